// Flows of one run of an agent: those with the same label `agent_run_id`.
import type { FlowView } from "../../api/client";

export const RUN_LABEL = "agent_run_id";

export interface AgentRun {
  id: string;
  flows: FlowView[]; // newest first
  states: Map<string, number>; // of flows
  jobs: number;
  jobsOver: number;
  jobsBad: number;
  beganMs: number;
  latestMs: number; // when something last began or ended
}

const over = new Set(["succeeded", "failed", "timed_out", "cancelled", "denied", "quarantined", "skipped"]);
const bad = new Set(["failed", "timed_out", "denied", "quarantined"]);

function sumOf(flow: FlowView, which: Set<string>): number {
  return Object.entries(flow.states ?? {}).reduce((sum, [state, count]) => sum + (which.has(state) ? count : 0), 0);
}

/** The run with the newest flow first. */
export function groupRuns(flows: FlowView[]): AgentRun[] {
  const runs = new Map<string, AgentRun>();
  for (const flow of flows) {
    const id = flow.labels?.[RUN_LABEL];
    if (id === undefined || id === "") continue;
    const run: AgentRun = runs.get(id) ?? {
      id, flows: [], states: new Map(), jobs: 0, jobsOver: 0, jobsBad: 0, beganMs: Infinity, latestMs: 0,
    };
    runs.set(id, run);
    run.flows.push(flow);
    run.states.set(flow.state ?? "", (run.states.get(flow.state ?? "") ?? 0) + 1);
    run.jobs += flow.job_count ?? 0;
    run.jobsOver += sumOf(flow, over);
    run.jobsBad += sumOf(flow, bad);
    run.beganMs = Math.min(run.beganMs, flow.created_ms ?? Infinity);
    run.latestMs = Math.max(run.latestMs, flow.created_ms ?? 0, flow.finished_ms ?? 0);
  }
  return [...runs.values()].sort((a, b) => b.latestMs - a.latestMs);
}
