// Undo and redo: the drafts before and after the one that is shown. Changes with the same mark that follow one another
// (typing into a field, dragging a job) are one step.
export interface History<T> {
  past: T[];
  now: T;
  future: T[];
  mark: string;
}

const STEPS_MAX = 200;

export const begin = <T>(now: T): History<T> => ({ past: [], now, future: [], mark: "" });

export function change<T>(history: History<T>, next: T, mark = ""): History<T> {
  if (next === history.now) return history;
  const goesOn = mark !== "" && mark === history.mark;
  const past = goesOn ? history.past : [...history.past, history.now].slice(-STEPS_MAX);
  return { past, now: next, future: [], mark };
}

export function undo<T>(history: History<T>): History<T> {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  return { past: history.past.slice(0, -1), now: before, future: [history.now, ...history.future], mark: "" };
}

export function redo<T>(history: History<T>): History<T> {
  const [next, ...future] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.now], now: next, future, mark: "" };
}
