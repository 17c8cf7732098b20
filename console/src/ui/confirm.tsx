// Asking before something is done that cannot be taken back. `await ask({...})` gives the note that was typed, or null
// where the answer was no. The dialog lives in an element of its own, so that no page has to carry it.
import { render } from "preact";
import { useState } from "preact/hooks";

import { Dialog } from "./parts";
import "./show.css";

export interface Ask {
  title: string;
  text: string;
  action: string; // what the button that does it says
  danger?: boolean;
  note?: string; // label of a text to give along; none without one
}

let host: HTMLElement | undefined;

function AskDialog({ of, answer }: { of: Ask; answer: (note: string | null) => void }) {
  const [note, setNote] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    answer(note.trim());
  };
  return (
    <Dialog title={of.title} open onClose={() => answer(null)}>
      <form onSubmit={submit}>
        <p>{of.text}</p>
        {of.note === undefined ? null : (
          <label>
            {of.note}
            <input value={note} onInput={(event) => setNote(event.currentTarget.value)} />
          </label>
        )}
        <div class="dialog-actions">
          <button type="button" onClick={() => answer(null)}>Keep</button>
          <button type="submit" class={of.danger ? "danger" : "primary"}>{of.action}</button>
        </div>
      </form>
    </Dialog>
  );
}

export function ask(of: Ask): Promise<string | null> {
  if (host === undefined) {
    host = document.createElement("div");
    document.body.append(host);
  }
  const into = host;
  return new Promise((resolve) => {
    const answer = (note: string | null) => {
      render(null, into);
      resolve(note);
    };
    render(<AskDialog of={of} answer={answer} />, into);
  });
}
