// The bars of the timeline. A bar is work (an attempt) or waiting (for what it needs, a slot, or the next attempt).
import type { Attempt, FlowGraph } from "./model";

export interface Bar {
  kind: "wait" | "send" | "run";
  fromMs: number;
  toMs: number;
  attempt: number;
  outcome: string;
}

export interface GanttRow {
  index: number; // of the job
  bars: Bar[];
}

/** When everything that a job needs was done, as far as attempts tell. */
function readyMs(graph: FlowGraph, attempts: readonly Attempt[][], index: number, createdMs: number): number {
  return graph.nodes[index]!.parents.reduce(
    (latest, parent) => Math.max(latest, attempts[parent]?.at(-1)?.endedMs ?? 0),
    createdMs,
  );
}

function barsOf(list: readonly Attempt[], readyAtMs: number, nowMs: number): Bar[] {
  const bars: Bar[] = [];
  let idleMs = readyAtMs;
  for (const { attempt, outcome, assignedMs, startedMs, endedMs } of list) {
    if (assignedMs > idleMs) bars.push({ kind: "wait", fromMs: idleMs, toMs: assignedMs, attempt, outcome: "" });
    const begunMs = startedMs || (endedMs > 0 ? assignedMs : nowMs); // no start was recorded: it was over too soon
    if (begunMs > assignedMs) bars.push({ kind: "send", fromMs: assignedMs, toMs: begunMs, attempt, outcome: "" });
    if (startedMs > 0 || endedMs > 0)
      bars.push({ kind: "run", fromMs: begunMs, toMs: Math.max(begunMs, endedMs || nowMs), attempt, outcome });
    idleMs = endedMs || nowMs;
  }
  return bars;
}

/** Jobs with attempts, in the order in which they began. */
export function ganttRows(graph: FlowGraph, attempts: readonly Attempt[][], createdMs: number, nowMs: number): GanttRow[] {
  const rows = graph.nodes.flatMap((_, index) => {
    const list = attempts[index] ?? [];
    return list.length === 0 ? [] : [{ index, bars: barsOf(list, readyMs(graph, attempts, index, createdMs), nowMs) }];
  });
  return rows.sort((a, b) => attempts[a.index]![0]!.assignedMs - attempts[b.index]![0]!.assignedMs || a.index - b.index);
}

/** Round steps for the axis, in milliseconds: as many as fit. */
export function tickStep(spanMs: number, ticksMax: number): number {
  const steps = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
    1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
  ];
  return steps.find((step) => spanMs / step <= ticksMax) ?? Math.ceil(spanMs / ticksMax / 86_400_000) * 86_400_000;
}
