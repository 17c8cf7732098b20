// What the constructor asks before it does something: which template, which file, which parameters.
import { useRef, useState } from "preact/hooks";

import { ParameterField, parametersOf, valuesOf } from "../../ui/parameters";
import { Dialog } from "../../ui/parts";
import type { Draft, Json } from "./draft";
import { templates, type Template } from "./templates";
import { TextError, readText } from "./yaml";

export function TemplateDialog({ open, onClose, onChoose }: { open: boolean; onClose: () => void; onChoose: (template: Template) => void }) {
  return (
    <Dialog title="Begin with a template" open={open} onClose={onClose}>
      <p class="faint">It takes the place of what is drawn; undo brings that back.</p>
      <div class="template-list">
        {templates.map((template) => (
          <button type="button" key={template.id} class="template" onClick={() => onChoose(template)}>
            <strong>{template.title}</strong>
            <span>{template.text}</span>
          </button>
        ))}
      </div>
    </Dialog>
  );
}

export function ImportDialog({ open, onClose, onFile }: { open: boolean; onClose: () => void; onFile: (file: Json) => void }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const chooser = useRef<HTMLInputElement>(null);
  const take = (event: Event) => {
    event.preventDefault();
    try {
      onFile(readText(text));
      setText("");
      setProblem("");
    } catch (error) {
      setProblem((error instanceof TextError && error.line > 0 ? `Line ${error.line}: ` : "") + (error as Error).message);
    }
  };
  return (
    <Dialog title="Import a flow file" open={open} onClose={onClose}>
      <form onSubmit={take}>
        <label>
          From a file
          <input ref={chooser} type="file" accept=".yaml,.yml,.json" onChange={(event) => void event.currentTarget.files?.[0]?.text().then(setText)} />
        </label>
        <label>
          or pasted, YAML or JSON
          <textarea class="mono import-text" rows={12} spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        {problem === "" ? null : <p class="problem" role="alert">{problem}</p>}
        <div class="actions"><button type="submit" class="primary" disabled={text.trim() === ""}>Import</button></div>
      </form>
    </Dialog>
  );
}

interface ParamsDialogProps {
  draft: Draft;
  open: boolean;
  onClose: () => void;
  onGiven: (params: Record<string, string>) => void;
}

export function ParamsDialog({ draft, open, onClose, onGiven }: ParamsDialogProps) {
  const [values, setValues] = useState<Record<string, string>>({});
  const params = parametersOf(draft.flow);
  const submit = (event: Event) => {
    event.preventDefault();
    onGiven(valuesOf(params, values));
  };
  return (
    <Dialog title="Parameters of this run" open={open} onClose={onClose}>
      <form onSubmit={submit}>
        {params.map((one) => (
          <ParameterField key={one.name} parameter={one} value={values[one.name] ?? one.value} onChange={(value) => setValues({ ...values, [one.name]: value })} />
        ))}
        <div class="actions"><button type="submit" class="primary">Submit</button></div>
      </form>
    </Dialog>
  );
}
