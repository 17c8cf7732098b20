// What an action led to, said in a corner for a few seconds; errors stay until they are dismissed.
import { useEffect, useState } from "preact/hooks";

import { ApiError } from "../api/client";

interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

const SHOWN_MS = 5000;
let toasts: Toast[] = [];
let lastId = 0;
const watchers = new Set<(all: Toast[]) => void>();

function change(next: Toast[]): void {
  toasts = next;
  for (const watcher of [...watchers]) watcher(toasts);
}

const remove = (id: number) => change(toasts.filter((toast) => toast.id !== id));

export function say(text: string, bad = false): void {
  const id = ++lastId;
  change([...toasts, { id, text, bad }]);
  if (!bad) setTimeout(() => remove(id), SHOWN_MS);
}

/** Runs what a button does: tells of success with `done`, and of a refusal in the server's words. */
export async function act<T>(work: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const got = await work();
    if (done !== undefined) say(done);
    return got;
  } catch (error) {
    say(error instanceof ApiError ? error.message : String(error), true);
    return undefined;
  }
}

/** The same for a dialog, which stays open when it is refused: nothing, or why not. */
export async function tried(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function Toasts() {
  const [all, setAll] = useState(toasts);
  useEffect(() => {
    watchers.add(setAll);
    return () => void watchers.delete(setAll);
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {all.map((toast) => (
        <div key={toast.id} class={toast.bad ? "toast bad" : "toast"}>
          {toast.text}
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => remove(toast.id)}>×</button>
        </div>
      ))}
    </div>
  );
}
