// The bars of the timeline. A bar is work (an attempt) or waiting (for what it needs, a slot, or the next attempt). Rows
// are jobs, or the slots of workers.
import { stateInfo } from "../../ui/states";
import type { Attempt, FlowGraph, JobNow } from "./model";

export interface Bar {
  kind: "wait" | "send" | "run" | "mark"; // mark: a job that ended without an attempt
  fromMs: number;
  toMs: number;
  attempt: number;
  outcome: string;
  job: number; // index of it
}

export interface GanttRow {
  label: string;
  index: number; // of the job; -1: the row is of a worker
  bars: Bar[];
}

/** When everything that a job needs was done, as far as attempts tell. */
function readyMs(graph: FlowGraph, attempts: readonly Attempt[][], index: number, createdMs: number): number {
  return graph.nodes[index]!.parents.reduce(
    (latest, parent) => Math.max(latest, attempts[parent]?.at(-1)?.endedMs ?? 0),
    createdMs,
  );
}

function barsOf(list: readonly Attempt[], job: number, readyAtMs: number, nowMs: number): Bar[] {
  const bars: Bar[] = [];
  let idleMs = readyAtMs;
  for (const { attempt, outcome, assignedMs, startedMs, endedMs } of list) {
    if (assignedMs > idleMs) bars.push({ kind: "wait", fromMs: idleMs, toMs: assignedMs, attempt, outcome: "", job });
    const begunMs = startedMs || (endedMs > 0 ? assignedMs : nowMs); // no start was recorded: it was over too soon
    if (begunMs > assignedMs) bars.push({ kind: "send", fromMs: assignedMs, toMs: begunMs, attempt, outcome: "", job });
    if (startedMs > 0 || endedMs > 0)
      bars.push({ kind: "run", fromMs: begunMs, toMs: Math.max(begunMs, endedMs || nowMs), attempt, outcome, job });
    idleMs = endedMs || nowMs;
  }
  return bars;
}

/** A job without attempts: a foreach job works through its items from when it is ready on, others end at a moment. */
function bareBars(now: JobNow | undefined, job: number, readyAtMs: number, nowMs: number): Bar[] {
  if (now === undefined) return [];
  const isOver = stateInfo(now.state).over;
  const endMs = isOver ? now.sinceMs : nowMs;
  if (now.items !== undefined && now.items.open + now.items.good + now.items.bad > 0)
    return [{ kind: "run", fromMs: Math.min(readyAtMs, endMs), toMs: endMs, attempt: 0, outcome: isOver ? now.state : "open", job }];
  return isOver ? [{ kind: "mark", fromMs: now.sinceMs, toMs: now.sinceMs, attempt: 0, outcome: now.state, job }] : [];
}

/** All jobs, in the order in which they began; those that never did come where they ended, or last. */
export function ganttRows(graph: FlowGraph, now: readonly JobNow[], attempts: readonly Attempt[][], createdMs: number, nowMs: number): GanttRow[] {
  const rows = graph.nodes.map((node, index) => {
    const list = attempts[index] ?? [];
    const readyAtMs = readyMs(graph, attempts, index, createdMs);
    const bars = list.length > 0 ? barsOf(list, index, readyAtMs, nowMs) : bareBars(now[index], index, readyAtMs, nowMs);
    return { row: { label: node.name, index, bars }, beganMs: list[0]?.assignedMs ?? bars[0]?.fromMs ?? Infinity };
  });
  return rows.sort((a, b) => (a.beganMs === b.beganMs ? 0 : a.beganMs - b.beganMs) || a.row.index - b.row.index).map(({ row }) => row);
}

/** What each worker did: a row for each attempt that it had at the same time. */
export function laneRows(graph: FlowGraph, attempts: readonly Attempt[][], nowMs: number): GanttRow[] {
  const byWorker = new Map<string, Bar[]>();
  attempts.forEach((list, job) => {
    for (const bar of graph.nodes[job] === undefined ? [] : barsOf(list, job, Infinity, nowMs)) {
      const worker = list.find((each) => each.attempt === bar.attempt)?.worker ?? "";
      if (bar.kind === "run" && worker !== "") byWorker.set(worker, [...(byWorker.get(worker) ?? []), bar]);
    }
  });
  return [...byWorker.entries()]
    .sort(([a], [b]) => a.localeCompare(b, undefined, { numeric: true }))
    .flatMap(([worker, bars]) => {
      const lanes: Bar[][] = [];
      for (const bar of bars.sort((a, b) => a.fromMs - b.fromMs)) {
        const free = lanes.find((lane) => lane.at(-1)!.toMs <= bar.fromMs);
        if (free === undefined) lanes.push([bar]);
        else free.push(bar);
      }
      return lanes.map((lane, at) => ({ label: at === 0 ? worker : "", index: -1, bars: lane }));
    });
}

/** Round steps for the axis, in milliseconds: as many as fit. */
export function tickStep(spanMs: number, ticksMax: number): number {
  const steps = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
    1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
  ];
  return steps.find((step) => spanMs / step <= ticksMax) ?? Math.ceil(spanMs / ticksMax / 86_400_000) * 86_400_000;
}
