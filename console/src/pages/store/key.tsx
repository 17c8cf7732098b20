// One key of the store: what it holds, and changing it.
import { useEffect, useRef, useState } from "preact/hooks";

import type { Schemas } from "../../api/client";
import { textOf, usePages } from "../../api/pages";
import { may } from "../../api/session";
import { setQuery } from "../../router";
import { ask } from "../../ui/confirm";
import { Ago, Problem } from "../../ui/parts";
import { Copied, Facts } from "../../ui/show";
import { act } from "../../ui/toast";
import { deleteChange, prettyText, send, setChange, type Bytes, type Item } from "./change";

interface KeyProps {
  item: Item;
  flow: string;
  reload: () => void;
}

const nameOf = (item: Item) => textOf(item.key) ?? "";

/** What is typed stays when someone else changes the key meanwhile; then it is said. */
function TextValue({ item, flow, reload }: KeyProps) {
  const value = item.value ?? "";
  const shown = typeof value === "string" ? value : "";
  const [draft, setDraft] = useState({ text: shown, from: shown, version: item.version ?? 0 });
  const take = () => setDraft({ text: shown, from: shown, version: item.version ?? 0 });
  const isDirty = draft.text !== draft.from;
  const isOld = draft.version !== (item.version ?? 0);
  useEffect(() => {
    if (isOld && !isDirty) take();
  }, [item.version, isDirty]);
  if (typeof value !== "string") return <><p class="hint">Binary data, in base64:</p><pre class="kv-value">{value.base64}</pre></>;
  if (!may("operator", "submitter")) return <pre class="kv-value">{prettyText(value)}</pre>;
  const setText = (text: string) => setDraft((last) => ({ ...last, text }));
  const save = async () => {
    const change = { ...setChange(item.key ?? "", draft.text, draft.version, undefined), keep_expiry: true };
    const done = await act(() => send(flow, change), `${nameOf(item)} is set`);
    if (done === undefined) return;
    setDraft((last) => ({ ...last, from: last.text }));
    reload();
  };
  const laidOut = prettyText(draft.text);
  return (
    <>
      <label>Value<textarea class="kv-text" rows={Math.min(20, draft.text.split("\n").length + 2)} value={draft.text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} /></label>
      {isOld && isDirty ? <p class="hint" role="alert">It was changed meanwhile, to version {item.version}. <button type="button" class="small" onClick={take}>Show that</button></p> : null}
      <div class="row">
        <button type="button" class="primary" disabled={!isDirty} onClick={() => void save()}>Save</button>
        {laidOut !== draft.text ? <button type="button" onClick={() => setText(laidOut)}>Lay out the JSON</button> : null}
        {isDirty ? <button type="button" onClick={take}>Undo</button> : null}
      </div>
    </>
  );
}

function NumberValue({ item, flow, reload }: KeyProps) {
  const [by, setBy] = useState("1");
  const increase = async (number: number) => {
    if ((await act(() => send(flow, { op: "increase", key: item.key, number }))) !== undefined) reload();
  };
  return (
    <>
      <p class="kv-number" data-testid="kv-number">{(item.number ?? 0).toLocaleString()}</p>
      {may("operator", "submitter") ? (
        <form class="row" onSubmit={(event) => (event.preventDefault(), void increase(Number(by)))}>
          <label class="check">Add <input class="kv-by" type="number" step="1" required value={by} onInput={(event) => setBy(event.currentTarget.value)} /></label>
          <button type="submit" class="primary">Add</button>
          <button type="button" onClick={() => void increase(-Number(by))}>Take away</button>
        </form>
      ) : null}
    </>
  );
}

function SetValue({ item, flow, reload }: KeyProps) {
  const [member, setMember] = useState("");
  const pages = usePages<Schemas["kv_items"], Bytes>({
    path: "/store",
    query: { keys: [nameOf(item)], members: true, most: 200, flow: flow || undefined, version: undefined },
    rowsOf: (answer) => answer.members,
    cursorOf: (answer) => textOf(answer.after),
    cursorName: "after",
  });
  const seen = useRef(item.version);
  useEffect(() => {
    if (seen.current !== item.version) pages.reload();
    seen.current = item.version;
  }, [item.version]);
  const change = async (op: "add" | "remove", which: Bytes) => {
    if ((await act(() => send(flow, { op, key: item.key, members: [which] }))) === undefined) return;
    setMember("");
    pages.reload();
    reload();
  };
  const mayChange = may("operator", "submitter");
  return (
    <>
      {pages.error ? <Problem error={pages.error} retry={pages.reload} /> : null}
      <ul class="members" aria-label="Members">
        {(pages.rows ?? []).map((each) => (
          <li key={textOf(each)} class="tag">
            {textOf(each)}
            {mayChange ? <button type="button" class="quiet" aria-label={`Remove ${textOf(each)}`} onClick={() => void change("remove", each)}>×</button> : null}
          </li>
        ))}
      </ul>
      {pages.more ? <button type="button" class="small" onClick={pages.more}>More</button> : null}
      {mayChange ? (
        <form class="row" onSubmit={(event) => (event.preventDefault(), void change("add", member))}>
          <input aria-label="Member" required value={member} onInput={(event) => setMember(event.currentTarget.value)} />
          <button type="submit" class="primary">Add</button>
        </form>
      ) : null}
    </>
  );
}

function Expiry({ item, flow, reload }: KeyProps) {
  const [at, setAt] = useState("");
  const expire = async (expiresMs: number) => {
    const done = expiresMs === 0 ? `${nameOf(item)} stays` : `${nameOf(item)} ends then`;
    if ((await act(() => send(flow, { op: "expire", key: item.key, expires_ms: expiresMs }), done)) !== undefined) reload();
  };
  return (
    <form class="row" onSubmit={(event) => (event.preventDefault(), void expire(new Date(at).getTime()))}>
      <label class="check">Ends <input type="datetime-local" required value={at} onInput={(event) => setAt(event.currentTarget.value)} /></label>
      <button type="submit">Set</button>
      {item.expires_ms ? <button type="button" onClick={() => void expire(0)}>Never</button> : null}
    </form>
  );
}

export function KeyView({ item, flow, reload }: KeyProps) {
  const remove = async () => {
    const sure = await ask({ title: `Delete ${nameOf(item)}?`, text: "Only if nobody has changed it since it was shown here.", action: "Delete", danger: true });
    if (sure === null) return;
    if ((await act(() => send(flow, deleteChange(item)), `${nameOf(item)} is deleted`)) !== undefined) setQuery({ key: null });
    reload();
  };
  const mayChange = may("operator", "submitter");
  return (
    <article class="card kv-key" aria-label={`Key ${nameOf(item)}`}>
      <header class="row">
        <h2 class="mono"><Copied text={nameOf(item)} /></h2>
        <button type="button" class="quiet push" aria-label="Close" onClick={() => setQuery({ key: null })}>×</button>
      </header>
      {item.kind === "number" ? <NumberValue item={item} flow={flow} reload={reload} /> : null}
      {item.kind === "set" ? <SetValue item={item} flow={flow} reload={reload} /> : null}
      {item.kind === "text" ? <TextValue item={item} flow={flow} reload={reload} /> : null}
      <Facts of={[["Kind", item.kind], ["Version", item.version], ["Ends", item.expires_ms ? <Ago ms={item.expires_ms} /> : "never"]]} />
      {mayChange ? <Expiry item={item} flow={flow} reload={reload} /> : null}
      {mayChange ? <div class="row"><button type="button" class="danger" onClick={() => void remove()}>Delete</button></div> : null}
    </article>
  );
}
