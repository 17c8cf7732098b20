// The states of jobs and flows, in the order in which lists and legends show them. Colours are in style.css as
// --state-NAME; a state is never told by colour alone.
export interface StateInfo {
  name: string;
  label: string;
  sign: string; // one character that tells it without colour
  over: boolean;
}

const all: StateInfo[] = [
  { name: "waiting", label: "waiting", sign: "·", over: false },
  { name: "held", label: "held", sign: "?", over: false },
  { name: "ready", label: "ready", sign: "○", over: false },
  { name: "dispatched", label: "dispatched", sign: "◔", over: false },
  { name: "running", label: "running", sign: "▶", over: false },
  { name: "checking", label: "checking", sign: "◕", over: false },
  { name: "succeeded", label: "succeeded", sign: "✓", over: true },
  { name: "failed", label: "failed", sign: "✗", over: true },
  { name: "upstream_failed", label: "upstream failed", sign: "⇣", over: true },
  { name: "timed_out", label: "timed out", sign: "◷", over: true },
  { name: "cancelled", label: "cancelled", sign: "⊘", over: true },
  { name: "denied", label: "denied", sign: "⊗", over: true },
  { name: "quarantined", label: "quarantined", sign: "☣", over: true },
  { name: "skipped", label: "skipped", sign: "→", over: true },
];

const byName = new Map(all.map((state) => [state.name, state]));

export const jobStates: readonly StateInfo[] = all;

/** The state that is shown: a job that failed only because another did never ran, and is told apart from one that did. */
export function shownState(state: string, cause: string | undefined): string {
  return state === "failed" && cause === "upstream" ? "upstream_failed" : state;
}

export function stateInfo(name: string | undefined): StateInfo {
  const known = name === undefined ? undefined : byName.get(name);
  return known ?? { name: "unknown", label: name ?? "unknown", sign: "•", over: false };
}
