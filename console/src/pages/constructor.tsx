// Draw a flow, see its file beside it, check it, submit it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { ApiError, save } from "../api/client";
import type { PageProps } from "../app";
import { flowPath, navigate, setQuery } from "../router";
import { parametersOf, sampleOf } from "../ui/parameters";
import { Page } from "../ui/parts";
import { act, say } from "../ui/toast";
import { Canvas } from "./constructor/canvas";
import "./constructor/constructor.css";
import { ImportDialog, ParamsDialog, TemplateDialog } from "./constructor/dialogs";
import { fileOf, type Json } from "./constructor/draft";
import { useEditor, type Editor } from "./constructor/editor";
import { Inspector } from "./constructor/inspector";
import { shortcuts, useKeys } from "./constructor/keys";
import { flowAsFile } from "./constructor/from_flow";
import { problemsOf, type Problem } from "./constructor/problems";
import { Source } from "./constructor/source";
import { check, submit } from "./constructor/submit";
import { templates } from "./constructor/templates";
import { jsonOf, yamlOf } from "./constructor/yaml";

type Asking = "template" | "import" | "params" | undefined;
type Side = "fields" | "yaml";

const download = (name: string, text: string) => save(new Blob([text], { type: "text/plain" }), name);

/** What the server says of the draft as it is now; a later change makes it old. */
type Verdict = { of: unknown; good: boolean; text: string };

function Problems({ problems, verdict, onShow }: { problems: Problem[]; verdict: Verdict | undefined; onShow: (job: string) => void }) {
  return (
    <div class="problems" role="status" aria-label="Problems">
      {verdict === undefined ? null : <p class={verdict.good ? "good" : "field-problem"}>{verdict.good ? "✓ " : "✗ "}{verdict.text}</p>}
      {problems.length === 0 ? (verdict === undefined ? <p class="good">✓ No problems found so far; <em>Check</em> asks the server.</p> : null) : (
        <ul>
          {problems.map((problem, i) => (
            <li key={i}>
              {problem.job === undefined ? problem.text : <button type="button" class="quiet" onClick={() => onShow(problem.job!)}>{problem.text}</button>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Tools({ editor, ask, onCheck, onSubmit, busy }: { editor: Editor; ask: (what: Asking) => void; onCheck: () => void; onSubmit: () => void; busy: boolean }) {
  const name = String(editor.draft.flow["name"] ?? "flow");
  const save = (kind: string) => {
    const file = fileOf(editor.draft);
    if (kind === "yaml") download(`${name}.yaml`, yamlOf(file));
    if (kind === "json") download(`${name}.json`, jsonOf(file));
  };
  return (
    <>
      <button type="button" onClick={() => editor.add()}>Add job</button>
      <button type="button" onClick={() => ask("template")}>Templates</button>
      <button type="button" onClick={() => ask("import")}>Import</button>
      <select aria-label="Export" value="" onChange={(event) => {
        save(event.currentTarget.value);
        event.currentTarget.value = "";
      }}>
        <option value="">Export…</option>
        <option value="yaml">as YAML</option>
        <option value="json">as JSON</option>
      </select>
      <button type="button" disabled={!editor.canUndo} onClick={editor.undo}>Undo</button>
      <button type="button" disabled={!editor.canRedo} onClick={editor.redo}>Redo</button>
      <button type="button" onClick={editor.arrange}>Arrange</button>
      <button type="button" class="danger" disabled={editor.draft.jobs.length === 0} onClick={editor.clear}>Clear</button>
      <button type="button" disabled={busy} onClick={onCheck}>Check</button>
      <button type="button" class="primary" disabled={busy || editor.draft.jobs.length === 0} onClick={onSubmit}>Submit</button>
    </>
  );
}

function SideTabs({ side, choose }: { side: Side; choose: (side: Side) => void }) {
  const tab = (name: Side, label: string) => (
    <button type="button" role="tab" aria-selected={side === name} onClick={() => choose(name)}>{label}</button>
  );
  return <div class="tabs" role="tablist" aria-label="Beside the drawing">{tab("fields", "Fields")}{tab("yaml", "YAML")}</div>;
}

/** /new?template=diamond and /new?from=f3k9a begin with that, once; the address then is plain again. */
function useBeginning(editor: Editor, query: URLSearchParams): void {
  const template = query.get("template");
  const from = query.get("from");
  useEffect(() => {
    if (template === null && from === null) return;
    setQuery({ template: null, from: null });
    const found = templates.find((one) => one.id === template);
    if (found !== undefined) editor.load(found.file);
    if (from !== null) void act(async () => editor.load(await flowAsFile(from)), `A draft of what ${from} was made from. Look at what each job does before you submit it.`);
  }, [template, from]);
}

export default function Constructor({ place }: PageProps) {
  const editor = useEditor();
  const [asking, ask] = useState<Asking>();
  const [busy, setBusy] = useState(false);
  const [verdict, setVerdict] = useState<Verdict>();
  const side: Side = place.query.get("side") === "yaml" ? "yaml" : "fields";
  const problems = useMemo(() => problemsOf(editor.draft), [editor.draft]);
  const bad = useMemo(() => new Set(problems.flatMap((problem) => (problem.job === undefined ? [] : [problem.job]))), [problems]);
  const submitting = useRef(false);
  useKeys(editor);
  useBeginning(editor, place.query);

  const load = (file: Json) => {
    editor.load(file); // throws what is wrong with it, before anything is changed
    ask(undefined);
  };
  const judged = async (work: () => Promise<string | undefined>) => {
    setBusy(true);
    try {
      const text = await work();
      if (text !== undefined) setVerdict({ of: editor.draft, good: true, text });
    } catch (error) {
      const text = error instanceof ApiError ? error.message : String(error);
      setVerdict({ of: editor.draft, good: false, text });
    } finally {
      setBusy(false);
    }
  };
  const sendWith = (params: Record<string, string>) => {
    ask(undefined);
    if (submitting.current) return;
    submitting.current = true;
    void judged(async () => {
      const answer = await submit(editor.draft, params);
      say(`${answer.flow} was accepted: ${answer.job_count} ${answer.job_count === 1 ? "job" : "jobs"}.`);
      navigate(flowPath(answer.flow));
      return undefined;
    }).finally(() => (submitting.current = false));
  };
  const params = parametersOf(editor.draft.flow);
  const onSubmit = () => (params.length > 0 ? ask("params") : sendWith({}));
  const onCheck = () =>
    void judged(async () => {
      const given = Object.fromEntries(params.flatMap((one) => (one.needed || one.value !== "" ? [[one.name, sampleOf(one) ?? "x"]] : [])));
      const answer = await check(editor.draft, given);
      return `The server would accept it: ${answer.job_count} ${answer.job_count === 1 ? "job" : "jobs"}.`;
    });
  const current = verdict?.of === editor.draft ? verdict : undefined;

  return (
    <Page title="Constructor" actions={<Tools editor={editor} ask={ask} onCheck={onCheck} onSubmit={onSubmit} busy={busy} />}>
      <div class="constructor">
        <div class="drawing">
          <Canvas draft={editor.draft} selected={editor.selected} edge={editor.edge} bad={bad} shown={editor.shown} onSelect={editor.select}
            onMove={editor.move} onConnect={editor.connect} onAdd={editor.add} />
          <Problems problems={problems} verdict={current} onShow={(job) => editor.select(new Set([job]))} />
          <details class="shortcuts">
            <summary>Keyboard</summary>
            <dl>{shortcuts.map(([keys, text]) => <div key={keys}><dt><kbd>{keys}</kbd></dt><dd>{text}</dd></div>)}</dl>
          </details>
        </div>
        <div class="beside">
          <SideTabs side={side} choose={(next) => setQuery({ side: next === "yaml" ? "yaml" : null })} />
          {side === "yaml" ? <Source draft={editor.draft} onFile={editor.retext} /> : editor.selected.size > 1 ? (
            <div class="inspector">
              <h2>{editor.selected.size} jobs</h2>
              <div class="actions">
                <button type="button" onClick={editor.duplicate}>Duplicate</button>
                <button type="button" class="danger" onClick={editor.remove}>Remove</button>
              </div>
            </div>
          ) : editor.edge !== undefined ? (
            <div class="inspector">
              <h2>Edge</h2>
              <p><span class="mono">{editor.edge.to}</span> needs <span class="mono">{editor.edge.from}</span>.</p>
              <button type="button" class="danger" onClick={editor.remove}>Remove</button>
            </div>
          ) : (
            <Inspector draft={editor.draft} job={editor.only} onName={editor.rename} onKey={editor.setKey} onWork={editor.setWork}
              onConnect={editor.connect} onDisconnect={editor.disconnect} />
          )}
        </div>
      </div>
      <TemplateDialog open={asking === "template"} onClose={() => ask(undefined)} onChoose={(template) => load(template.file)} />
      <ImportDialog open={asking === "import"} onClose={() => ask(undefined)} onFile={load} />
      <ParamsDialog draft={editor.draft} open={asking === "params"} onClose={() => ask(undefined)} onGiven={sendWith} />
    </Page>
  );
}
