// The flow file beside the drawing. Typing changes the drawing as soon as the text can be read; the drawing changes the
// text as soon as nobody types.
import { useEffect, useState } from "preact/hooks";

import type { Draft, Json } from "./draft";
import { fileOf } from "./draft";
import { TextError, readText, yamlOf } from "./yaml";

export function Source({ draft, onFile }: { draft: Draft; onFile: (file: Json) => void }) {
  const [typed, setTyped] = useState<string>();
  const [problem, setProblem] = useState("");
  const made = yamlOf(fileOf(draft));
  useEffect(() => {
    if (typed === undefined) setProblem("");
  }, [typed]);
  const take = (text: string) => {
    setTyped(text);
    try {
      onFile(readText(text));
      setProblem("");
    } catch (error) {
      const line = error instanceof TextError && error.line > 0 ? `Line ${error.line}: ` : "";
      setProblem(line + (error as Error).message);
    }
  };
  return (
    <div class="source">
      <label for="source">Flow file (YAML)</label>
      <textarea id="source" class="mono" spellcheck={false} wrap="off" value={typed ?? made} aria-invalid={problem !== ""} aria-describedby="source-problem"
        onInput={(event) => take(event.currentTarget.value)} onBlur={() => problem === "" && setTyped(undefined)} />
      <p id="source-problem" class="field-problem" role="status">{problem}</p>
      {problem === "" ? null : <button type="button" class="small" onClick={() => setTyped(undefined)}>Back to the drawing's text</button>}
    </div>
  );
}
