// A flow as the page knows it: which jobs there are and what they need, where each stands, and how one event changes
// that. Nothing here asks the server or draws, so the same functions serve the live view and the time slider.
import type { AttemptView, JobView } from "../../api/client";
import type { ChangeEvent } from "../../api/events";
import { shownState, stateInfo } from "../../ui/states";

export interface JobNode {
  name: string; // without the flow
  kind: string;
  attemptsMax: number;
  parents: number[];
  children: number[];
  itemOf: number; // of an item of a foreach job that is shown unfolded: that job; -1: it is none
  items: number; // of a foreach job: how many it stands for
}

export interface ItemCounts {
  left: number; // not begun
  open: number;
  good: number;
  bad: number;
}

export interface JobNow {
  state: string;
  cause: string;
  attempt: number;
  sinceMs: number;
  dueMs: number;
  worker: string;
  root: string; // the job that dragged it down
  reason: string;
  exitCode: number;
  items: ItemCounts | undefined;
}

export interface Attempt {
  attempt: number;
  worker: string;
  outcome: string; // open until it ends
  assignedMs: number;
  startedMs: number;
  endedMs: number;
}

export interface FlowGraph {
  flow: string;
  nodes: JobNode[];
  byName: Map<string, number>;
  edges: Int32Array; // pairs of parent and child
}

export const ownName = (job: string) => job.slice(job.indexOf("/") + 1);

/** "map" and 3 of "map[3]". */
export function itemOf(name: string): { whole: string; item: number } | undefined {
  const match = /^(.+)\[(\d+)\]$/.exec(name);
  return match === null ? undefined : { whole: match[1]!, item: Number(match[2]) };
}

const nodeOf = (job: JobView, itemOfJob: number): JobNode => ({
  name: ownName(job.job ?? ""),
  kind: job.kind ?? "",
  attemptsMax: job.attempts_max ?? 1,
  parents: [],
  children: [],
  itemOf: itemOfJob,
  items: job.items ?? 0,
});

function link(nodes: JobNode[], parent: number | undefined, child: number): void {
  if (parent === undefined) return;
  nodes[child]!.parents.push(parent);
  nodes[parent]!.children.push(child);
}

/** `unfolded`: the items of those foreach jobs that are shown one by one. They stand between its parents and itself. */
export function graphOf(flow: string, jobs: JobView[], unfolded: ReadonlyMap<string, JobView[]> = new Map()): FlowGraph {
  const nodes = jobs.map((job) => nodeOf(job, -1));
  const byName = new Map(nodes.map((node, index) => [node.name, index]));
  for (const [whole, items] of unfolded) {
    const index = byName.get(whole);
    if (index === undefined) continue;
    for (const item of items) byName.set(ownName(item.job ?? ""), nodes.push(nodeOf(item, index)) - 1);
  }
  jobs.forEach((job, child) => {
    const hasItems = (unfolded.get(nodes[child]!.name)?.length ?? 0) > 0;
    if (!hasItems) for (const parent of job.parents ?? []) link(nodes, byName.get(parent), child);
    const undone = nodes[child]!.name.endsWith("~undo") ? byName.get(nodes[child]!.name.slice(0, -"~undo".length)) : undefined;
    if (undone !== undefined && nodes[child]!.parents.length === 0) link(nodes, undone, child);
  });
  nodes.forEach((node, index) => {
    if (node.itemOf < 0) return;
    for (const parent of jobs[node.itemOf]!.parents ?? []) link(nodes, byName.get(parent), index);
    link(nodes, index, node.itemOf);
  });
  const pairs: number[] = [];
  nodes.forEach((node, child) => node.parents.forEach((parent) => pairs.push(parent, child)));
  return { flow, nodes, byName, edges: Int32Array.from(pairs) };
}

// ---- where a job stands ----

function itemsOf(job: JobView): ItemCounts | undefined {
  if (!job.items) return undefined;
  const [begun, open, bad] = [job.items_begun ?? 0, job.items_open ?? 0, job.items_bad ?? 0];
  return { left: job.items - begun, open, good: begun - open - bad, bad };
}

export const nowOf = (job: JobView): JobNow => ({
  state: shownState(job.state ?? "unknown", job.cause),
  cause: job.cause ?? "",
  attempt: job.attempt ?? 0,
  sinceMs: job.since_ms ?? 0,
  dueMs: job.due_ms ?? 0,
  worker: job.worker ?? "",
  root: job.root ?? "",
  reason: job.reason ?? "",
  exitCode: job.exit_code ?? 0,
  items: itemsOf(job),
});

export const attemptsOf = (job: JobView): Attempt[] =>
  (job.attempts ?? []).map((view: AttemptView) => ({
    attempt: view.attempt ?? 0,
    worker: view.worker ?? "",
    outcome: view.outcome ?? "",
    assignedMs: view.assigned_ms ?? 0,
    startedMs: view.started_ms ?? 0,
    endedMs: view.ended_ms ?? 0,
  }));

/** A job before its first event. */
export function newborn(node: JobNode, createdMs: number): JobNow {
  const items = node.items > 0 ? { left: node.items, open: 0, good: 0, bad: 0 } : undefined;
  return {
    state: "waiting",
    cause: "",
    attempt: 0,
    sinceMs: createdMs,
    dueMs: 0,
    worker: "",
    root: "",
    reason: "",
    exitCode: 0,
    items,
  };
}

export const isActive = (state: string) => state === "dispatched" || state === "running" || state === "checking";

function itemClass(state: string | undefined, attempt: number): keyof ItemCounts {
  if (state === undefined || (state === "waiting" && attempt === 0)) return "left";
  if (!stateInfo(state).over) return "open";
  return state === "succeeded" || state === "skipped" ? "good" : "bad";
}

/** The job after the event. */
function moved(now: JobNow, event: ChangeEvent): JobNow {
  const to = event.to ?? now.state;
  return {
    ...now,
    state: shownState(to, event.cause),
    cause: event.cause === undefined || event.cause === "none" ? "" : event.cause,
    attempt: event.attempt ?? now.attempt,
    sinceMs: event.time_ms,
    dueMs: event.due_ms ?? 0,
    worker: event.worker ?? (to === "waiting" || to === "ready" ? "" : now.worker),
    root: "",
    reason: "",
    exitCode: 0,
  };
}

/** Takes one event into `now`; the job that it changed, or -1. Jobs are replaced, not changed in place. */
export function step(graph: FlowGraph, now: JobNow[], event: ChangeEvent): number {
  if (event.type !== "job" || !event.target.startsWith(`${graph.flow}/`)) return -1;
  const name = ownName(event.target);
  const index = graph.byName.get(name);
  const item = itemOf(name);
  const whole = item === undefined ? undefined : graph.byName.get(item.whole);
  const counts = whole === undefined ? undefined : now[whole]?.items;
  if (whole !== undefined && counts !== undefined) {
    const items = { ...counts };
    items[itemClass(event.from, event.attempt ?? 0)]--;
    items[itemClass(event.to, event.attempt ?? 0)]++;
    now[whole] = { ...now[whole]!, items };
  }
  if (index !== undefined && now[index] !== undefined) now[index] = moved(now[index], event);
  return index ?? whole ?? -1;
}

/** What the event says of the attempts of its job. */
export function stepAttempts(attempts: Attempt[], event: ChangeEvent): Attempt[] {
  const number = event.attempt ?? 0;
  const last = attempts.at(-1);
  if (event.to === "dispatched" && number > 0 && last?.attempt !== number) {
    const next = {
      attempt: number,
      worker: event.worker ?? "",
      outcome: "open",
      assignedMs: event.time_ms,
      startedMs: 0,
      endedMs: 0,
    };
    return [...attempts, next];
  }
  if (last === undefined || last.endedMs > 0) return attempts;
  const change = (changes: Partial<Attempt>) => [...attempts.slice(0, -1), { ...last, ...changes }];
  if (event.to === "running" && last.startedMs === 0)
    return change({ startedMs: event.time_ms, worker: event.worker ?? last.worker });
  if (isActive(event.from ?? "") && !isActive(event.to ?? ""))
    return change({ endedMs: event.time_ms, outcome: event.to ?? "ended" });
  return attempts;
}

export function countStates(now: readonly JobNow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const job of now) counts.set(job.state, (counts.get(job.state) ?? 0) + 1);
  return counts;
}

// ---- the longest way ----

/** How long the attempts of a job took together; of one that runs: so far. */
export function workMs(attempts: readonly Attempt[], nowMs: number): number {
  return attempts.reduce((sum, a) => sum + Math.max(0, (a.endedMs || nowMs) - (a.startedMs || a.assignedMs)), 0);
}

/** The chain of jobs whose attempts took longest together, first to last: nothing else made the flow take as long. */
export function criticalPath(graph: FlowGraph, attempts: readonly Attempt[][], nowMs: number): number[] {
  const count = graph.nodes.length;
  const longest = new Float64Array(count);
  const before = new Int32Array(count).fill(-1);
  const open = Int32Array.from(graph.nodes, (node) => node.parents.length);
  const queue = graph.nodes.flatMap((node, index) => (node.parents.length === 0 ? [index] : []));
  let end = -1;
  for (let at = 0; at < queue.length; at++) {
    const index = queue[at]!;
    longest[index]! += workMs(attempts[index] ?? [], nowMs);
    if (end < 0 || longest[index]! > longest[end]!) end = index;
    for (const child of graph.nodes[index]!.children) {
      if (before[child]! < 0 || longest[index]! > longest[child]!) {
        longest[child] = longest[index]!;
        before[child] = index;
      }
      open[child]!--;
      if (open[child] === 0) queue.push(child);
    }
  }
  const path: number[] = [];
  for (let index = end; index >= 0; index = before[index]!) path.unshift(index);
  return path;
}
