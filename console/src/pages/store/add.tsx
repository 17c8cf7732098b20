// A key that is not there yet: a text, a number or a set.
import { useState } from "preact/hooks";

import { ApiError } from "../../api/client";
import { setQuery } from "../../router";
import { Dialog } from "../../ui/parts";
import { send, setChange } from "./change";

type Kind = "text" | "number" | "set";

function changeOf(kind: Kind, key: string, value: string, expires: string): Record<string, unknown> {
  if (kind === "number") return { op: "increase", key, number: Number(value) };
  if (kind === "set") return { op: "add", key, members: value.split("\n").filter((member) => member !== "") };
  return setChange(key, value, 0, expires === "" ? undefined : new Date(expires).getTime());
}

const labels: Record<Kind, string> = { text: "Value", number: "Number to add to nothing", set: "Members, one per line" };

export function AddKey({ open, flow, prefix, onClose, reload }: { open: boolean; flow: string; prefix: string; onClose: () => void; reload: () => void }) {
  const [kind, setKind] = useState<Kind>("text");
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const [expires, setExpires] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await send(flow, changeOf(kind, key, value, expires));
      setKey("");
      setValue("");
      setProblem("");
      onClose();
      reload();
      setQuery({ key });
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return (
    <Dialog title="Set a key" open={open} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <label>Key<input required value={key} placeholder={prefix === "" ? "app/colour" : prefix} onInput={(event) => setKey(event.currentTarget.value)} /></label>
        <label>
          Kind
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
            <option value="text">text</option>
            <option value="number">number</option>
            <option value="set">set</option>
          </select>
        </label>
        <label>
          {labels[kind]}
          {kind === "number"
            ? <input type="number" step="1" required value={value} onInput={(event) => setValue(event.currentTarget.value)} />
            : <textarea value={value} spellcheck={false} onInput={(event) => setValue(event.currentTarget.value)} />}
        </label>
        {kind === "text" ? <label>Ends (never, if empty)<input type="datetime-local" value={expires} onInput={(event) => setExpires(event.currentTarget.value)} /></label> : null}
        {problem === "" ? null : <p class="problem" role="alert">{problem}</p>}
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>Close</button>
          <button type="submit" class="primary">Set it</button>
        </div>
      </form>
    </Dialog>
  );
}
