// Everything that can be said of a job, or of the flow when none is selected.
import { useEffect, useState } from "preact/hooks";

import { isObject, parentsOf, whyNoEdge, type Draft, type Job, type Json } from "./draft";
import { Prose } from "../../ui/prose";
import { AnyField } from "./field";
import { WORK, flowGroups, jobGroups, type Field, type Group } from "./fields";

export interface InspectorProps {
  draft: Draft;
  job: Job | undefined;
  onName: (name: string) => void;
  onKey: (path: string[], value: Json | undefined) => void;
  onWork: (kind: string) => void;
  onConnect: (from: string, to: string) => void;
  onDisconnect: (from: string, to: string) => void;
}

function Name({ job, taken, onName }: { job: Job; taken: (name: string) => boolean; onName: (name: string) => void }) {
  const [typed, setTyped] = useState(job.name);
  useEffect(() => setTyped(job.name), [job.name]);
  const problem = typed === "" ? "A job needs a name." : typed !== job.name && taken(typed) ? "Another job has this name." : "";
  const take = (name: string) => {
    setTyped(name);
    if (name !== "" && !taken(name)) onName(name);
  };
  return (
    <div class="field">
      <label for="job-name">name</label>
      <input id="job-name" value={typed} spellcheck={false} aria-invalid={problem !== ""} onInput={(event) => take(event.currentTarget.value)}
        onBlur={() => setTyped(job.name)} />
      <p class="about">{problem === "" ? "unique in the flow; whoever speaks of it is renamed along" : <span class="field-problem">{problem}</span>}</p>
    </div>
  );
}

const workWords: Record<string, string> = {
  run: "a command", script: "a script", archive: "a program in an archive", service: "a service", gate: "asks a person", external: "waits for something outside",
  http: "asks a server on the web", noop: "nothing", sleep: "sleeps", fail: "fails, for trying things out",
};

function Work({ job, fields, onKey, onWork }: Pick<InspectorProps, "onKey" | "onWork"> & { job: Job; fields: Field[] }) {
  const kind = WORK.find((key) => job.keys[key] !== undefined) ?? "";
  const field = fields.find((one) => one.key === kind);
  return (
    <>
      <div class="field">
        <label for="job-work">what it does</label>
        <select id="job-work" value={kind} onChange={(event) => onWork(event.currentTarget.value)}>
          {kind === "" ? <option value="">choose</option> : null}
          {WORK.map((one) => <option key={one} value={one}>{one}: {workWords[one] ?? one}</option>)}
        </select>
      </div>
      {field === undefined ? null : field.kind === "truth" ? <p class="about"><Prose text={field.text} /></p> : (
        <AnyField key={kind} field={field} value={job.keys[kind]} path={[kind]} onChange={onKey} />
      )}
    </>
  );
}

function Needs({ draft, job, onConnect, onDisconnect }: Pick<InspectorProps, "draft" | "onConnect" | "onDisconnect"> & { job: Job }) {
  const possible = draft.jobs.map((other) => other.name).filter((name) => whyNoEdge(draft, name, job.name) === undefined);
  return (
    <fieldset class="field">
      <legend>needs</legend>
      <div class="chips">
        {parentsOf(job).map((parent) => (
          <span class="chip" key={parent}>{parent}
            <button type="button" class="quiet" aria-label={`${job.name} no longer needs ${parent}`} onClick={() => onDisconnect(parent, job.name)}>×</button>
          </span>
        ))}
        <select aria-label={`Add a job that ${job.name} needs`} value="" disabled={possible.length === 0} onChange={(event) => {
          onConnect(event.currentTarget.value, job.name);
          event.currentTarget.value = "";
        }}>
          <option value="">add…</option>
          {possible.map((name) => <option key={name} value={name}>{name}</option>)}
        </select>
      </div>
      <p class="about">jobs that must have succeeded before; or draw an edge</p>
    </fieldset>
  );
}

const setIn = (group: Group, keys: { [key: string]: Json }): number => group.fields.filter((field) => keys[field.key] !== undefined).length;

function Groups({ groups, keys, first, render }: { groups: Group[]; keys: { [key: string]: Json }; first: number; render: (field: Field) => preact.ComponentChildren }) {
  return (
    <>
      {groups.map((group, i) => {
        const set = setIn(group, keys);
        return (
          <details class="group" key={group.title} open={i < first || set > 0}>
            <summary>{group.title}{set > 0 ? <span class="set">{set}</span> : null}</summary>
            <div class="fields">{group.fields.map(render)}</div>
          </details>
        );
      })}
    </>
  );
}

export function Inspector(props: InspectorProps) {
  const { draft, job, onKey } = props;
  if (job === undefined)
    return (
      <div class="inspector">
        <h2>The flow</h2>
        <Groups groups={flowGroups} keys={draft.flow} first={1}
          render={(field) => <AnyField key={field.key} field={field} value={draft.flow[field.key]} path={[field.key]} onChange={onKey} />} />
      </div>
    );
  const [work, ...others] = jobGroups;
  const render = (field: Field) =>
    field.key === "needs" ? <Needs key="needs" {...props} job={job} /> : (
      <AnyField key={`${job.name} ${field.key}`} field={field} value={job.keys[field.key]} path={[field.key]} onChange={onKey} />
    );
  return (
    <div class="inspector">
      <h2>Job</h2>
      <Name job={job} taken={(name) => draft.jobs.some((other) => other !== job && other.name === name)} onName={props.onName} />
      <Work job={job} fields={work!.fields} onKey={onKey} onWork={props.onWork} />
      <Groups groups={others} keys={isObject(job.keys) ? job.keys : {}} first={1} render={render} />
    </div>
  );
}
