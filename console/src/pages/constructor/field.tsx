// One field of the inspector: a key of the flow file, its value and what it means.
import { useId, useState } from "preact/hooks";

import { Prose } from "../../ui/prose";
import { isObject, type Json, type Keys } from "./draft";
import { objectFrom, textOf, valueOf, type Field } from "./fields";

export interface FieldProps {
  field: Field;
  value: Json | undefined;
  path: string[]; // down to this key
  onChange: (path: string[], value: Json | undefined) => void;
}

const rowsFor = (text: string): number => Math.min(8, Math.max(1, text.split("\n").length));

function PlainField({ field, value, path, onChange }: FieldProps) {
  const id = useId();
  const [typed, setTyped] = useState<string>(); // while it does not mean a value yet
  const [problem, setProblem] = useState("");
  const text = typed ?? textOf(field, value);
  const take = (next: string) => {
    try {
      onChange(path, valueOf(field, next));
      setTyped(field.kind === "list" ? next : undefined);
      setProblem("");
    } catch (error) {
      setTyped(next);
      setProblem((error as Error).message);
    }
  };
  const common = { id, value: text, "aria-describedby": `${id}-about`, "aria-invalid": problem !== "", onBlur: () => problem === "" && setTyped(undefined) };
  return (
    <div class="field">
      <label for={id}>{field.key}</label>
      {field.kind === "choice" || field.kind === "truth" ? (
        <select {...common} onChange={(event) => take(event.currentTarget.value)}>
          <option value="">as usual</option>
          {(field.choices ?? ["true", "false"]).map((choice) => <option key={choice} value={choice}>{choice}</option>)}
          {text !== "" && !(field.choices ?? ["true", "false"]).includes(text) ? <option value={text}>{text}</option> : null}
        </select>
      ) : field.kind === "long" || field.kind === "list" || field.kind === "value" ? (
        <textarea {...common} rows={rowsFor(text)} spellcheck={false} placeholder={field.kind === "list" ? "one per line" : field.kind === "value" ? "text or JSON" : ""}
          onInput={(event) => take(event.currentTarget.value)} />
      ) : (
        <input {...common} type="text" inputMode={field.kind === "number" ? "numeric" : "text"} placeholder={field.hint?.split(",").slice(0, 2).join(",") ?? ""}
          spellcheck={false} onInput={(event) => take(event.currentTarget.value)} />
      )}
      <p class="about" id={`${id}-about`}>
        {problem === "" ? null : <span class="field-problem">{problem} </span>}
        <Prose text={field.text} />
      </p>
    </div>
  );
}

function MapField({ field, value, path, onChange }: FieldProps) {
  const entries = isObject(value) ? Object.entries(value) : [];
  const set = (next: [string, Json][]) => onChange(path, next.length === 0 ? undefined : Object.fromEntries(next));
  return (
    <fieldset class="field">
      <legend>{field.key}</legend>
      {entries.map(([name, inner], i) => (
        <div class="pair" key={i}>
          <input aria-label={`${field.key}: name`} value={name} spellcheck={false}
            onChange={(event) => set(entries.map((entry, k) => (k === i ? [event.currentTarget.value, entry[1]] : entry)))} />
          <input aria-label={`${field.key}: value of ${name}`} value={inner === null ? "" : typeof inner === "object" ? JSON.stringify(inner) : String(inner)} spellcheck={false}
            onInput={(event) => set(entries.map((entry, k) => (k === i ? [entry[0], pairValue(inner, event.currentTarget.value)] : entry)))} />
          <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={() => set(entries.filter((_, k) => k !== i))}>×</button>
        </div>
      ))}
      <button type="button" class="small" onClick={() => set([...entries, [freeKey(entries), ""]])}>Add to {field.key}</button>
      <p class="about"><Prose text={field.text} /></p>
    </fieldset>
  );
}

/** A number stays one while it looks like one; an object (a parameter with choices) can be written as JSON. */
function pairValue(old: Json, text: string): Json {
  if (typeof old === "number" && /^\d+(\.\d+)?$/.test(text)) return Number(text);
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function freeKey(entries: [string, Json][]): string {
  const taken = new Set(entries.map(([name]) => name));
  let n = 1;
  while (taken.has(`name${n}`)) n++;
  return `name${n}`;
}

function ObjectField({ field, value, path, onChange }: FieldProps) {
  const keys: Keys = isObject(value) ? value : {};
  const set = Object.keys(keys).length;
  return (
    <details class="field object" open={set > 0}>
      <summary>{field.key}{set > 0 ? <span class="set">{set}</span> : null}</summary>
      <p class="about"><Prose text={field.text} /></p>
      {field.short ? <button type="button" class="small" onClick={() => onChange(path, shortOf(keys))}>Just a text</button> : null}
      <div class="fields">
        {(field.fields ?? []).map((inner) => (
          <AnyField key={inner.key} field={inner} value={keys[inner.key]} path={[...path, inner.key]} onChange={onChange} />
        ))}
      </div>
    </details>
  );
}

const shortOf = (keys: Keys): Json | undefined => {
  const first = Object.values(keys)[0];
  return first === undefined || typeof first === "object" ? undefined : first;
};

export function AnyField(props: FieldProps) {
  const { field, value, path, onChange } = props;
  const [opened, setOpened] = useState(false);
  if (field.kind === "map" && (value === undefined || isObject(value))) return <MapField {...props} />;
  if (field.kind !== "object") return <PlainField {...props} />;
  if (isObject(value) || opened || field.short !== true) return <ObjectField {...props} />;
  return (
    <div class="with-more">
      <PlainField {...props} field={{ ...field, kind: "long", hint: "a text" }} />
      <button type="button" class="small" aria-label={`More of ${field.key}`} onClick={() => {
        setOpened(true);
        if (value !== undefined) onChange(path, objectFrom(field, value));
      }}>More…</button>
    </div>
  );
}
