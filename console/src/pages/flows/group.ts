// Flows of one name as one row: how its last runs went and how long they took.
import type { FlowView } from "../../api/client";

export const RUNS_SHOWN = 20;

export interface Group {
  name: string;
  runs: FlowView[]; // the newest first
  good: number; // of the runs that are over
  bad: number;
  running: number;
  tookMs: number | undefined; // the median of those that succeeded
  trend: number | undefined; // the newest against that median: 1.5 is half as long again
}

export const tookMs = (flow: FlowView): number | undefined =>
  flow.finished_ms && flow.created_ms ? flow.finished_ms - flow.created_ms : undefined;

function median(values: number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function groupOf(name: string, runs: FlowView[]): Group {
  const states = runs.map((run) => run.state);
  const took = runs.flatMap((run) => (run.state === "succeeded" ? [tookMs(run) ?? []] : [])).flat();
  const usual = median(took);
  return {
    name,
    runs,
    good: states.filter((state) => state === "succeeded").length,
    bad: states.filter((state) => state === "failed").length,
    running: states.filter((state) => state === "running").length,
    tookMs: usual,
    trend: usual && took.length > 2 ? took[0]! / usual : undefined,
  };
}

/** The name with the newest flow first. Flows without a name are one group. */
export function groupFlows(flows: readonly FlowView[]): Group[] {
  const byName = new Map<string, FlowView[]>();
  for (const flow of flows) {
    const list = byName.get(flow.name ?? "");
    if (list === undefined) byName.set(flow.name ?? "", [flow]);
    else list.push(flow);
  }
  return [...byName].map(([name, runs]) => groupOf(name, runs));
}

export type SortKey = "name" | "state" | "jobs" | "who" | "took";

const text = (value: string | undefined) => value ?? "";

const orders: Record<SortKey, (a: FlowView, b: FlowView) => number> = {
  name: (a, b) => text(a.name).localeCompare(text(b.name), undefined, { numeric: true }),
  state: (a, b) => text(a.state).localeCompare(text(b.state)),
  jobs: (a, b) => (b.job_count ?? 0) - (a.job_count ?? 0),
  who: (a, b) => text(a.principal).localeCompare(text(b.principal)),
  took: (a, b) => (tookMs(b) ?? -1) - (tookMs(a) ?? -1),
};

export const isSortKey = (word: string | null): word is SortKey => word !== null && Object.hasOwn(orders, word);

/** Equal ones stay as they are: the newest first. */
export const sortFlows = (flows: readonly FlowView[], by: SortKey): FlowView[] => [...flows].sort(orders[by]);
