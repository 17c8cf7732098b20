// The demo flow as the page knows it, and how one event changes it. Asks nobody, draws nothing.
import type { JobView } from "../../api/client";
import type { ChangeEvent } from "../../api/events";
import { arrange } from "../constructor/layout";
import type { Draft } from "../constructor/draft";

export interface DemoJob {
  name: string;
  parents: string[];
  state: string;
  cause: string;
  attempt: number;
  attemptsMax: number;
  worker: string;
  sinceMs: number;
  dueMs: number;
}

export interface DemoFlow {
  id: string;
  state: string;
  jobs: DemoJob[];
}

export const ownName = (job: string): string => job.slice(job.indexOf("/") + 1);
export const OVER = new Set(["succeeded", "failed", "timed_out", "cancelled", "denied", "quarantined", "skipped"]);
export const isOver = (job: DemoJob): boolean => OVER.has(job.state);

export function demoFlowOf(id: string, state: string, views: JobView[]): DemoFlow {
  const jobs = views.map((view): DemoJob => ({
    name: ownName(view.job ?? ""),
    parents: view.parents ?? [],
    state: view.state ?? "waiting",
    cause: view.cause ?? "",
    attempt: view.attempt ?? 0,
    attemptsMax: view.attempts_max ?? 1,
    worker: view.worker ?? "",
    sinceMs: view.since_ms ?? 0,
    dueMs: view.due_ms ?? 0,
  }));
  return { id, state, jobs };
}

export function stepped(flow: DemoFlow, event: ChangeEvent): DemoFlow {
  if (event.type === "flow" && event.target === flow.id) return { ...flow, state: event.to ?? flow.state };
  if (event.type !== "job" || !event.target.startsWith(`${flow.id}/`)) return flow;
  const name = ownName(event.target);
  const jobs = flow.jobs.map((job): DemoJob => {
    if (job.name !== name) return job;
    const worker = event.worker ?? (event.to === "running" || event.to === "dispatched" ? job.worker : "");
    return { ...job, state: event.to ?? job.state, cause: event.cause ?? "", attempt: event.attempt ?? job.attempt, worker, sinceMs: event.time_ms, dueMs: event.due_ms ?? 0 };
  });
  return { ...flow, jobs };
}

export const parentsLeft = (flow: DemoFlow, job: DemoJob): string[] =>
  job.parents.filter((parent) => flow.jobs.find((other) => other.name === parent)?.state !== "succeeded");

export interface Placed {
  job: DemoJob;
  x: number;
  y: number;
}

export const CARD_WIDTH = 200;
export const CARD_HEIGHT = 66;

export function placed(jobs: DemoJob[]): Placed[] {
  const draft: Draft = { flow: {}, jobs: jobs.map((job) => ({ name: job.name, keys: { needs: job.parents }, x: 0, y: 0 })) };
  const places = arrange(draft, { x: CARD_WIDTH + 28, y: CARD_HEIGHT + 34 }).jobs;
  return jobs.map((job, i) => ({ job, x: places[i]!.x, y: places[i]!.y }));
}

/** How far down the cascade a job is: breadth first, as the engine goes. 0: it was not dragged down. */
export function cascadeDepth(flow: DemoFlow, job: DemoJob): number {
  let depth = 0;
  let layer = [job.name];
  const seen = new Set(layer);
  while (layer.length > 0 && depth < flow.jobs.length) {
    const jobs = flow.jobs.filter((other) => layer.includes(other.name));
    if (jobs.some((other) => other.state === "failed" && other.cause !== "upstream")) return depth;
    layer = jobs.flatMap((other) => other.parents).filter((name) => !seen.has(name));
    for (const name of layer) seen.add(name);
    depth++;
  }
  return 0;
}
