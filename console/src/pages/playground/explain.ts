// What the playground says about a job or an event that is pointed at: which rule of the scheduler is at work.
import type { ChangeEvent } from "../../api/events";
import { durationText } from "../../ui/parts";
import { isOver, parentsLeft, type DemoFlow, type DemoJob } from "./facts";

export interface Explanation {
  rule: string;
  text: string;
}

/** One line for the card. */
export function reasoning(flow: DemoFlow, job: DemoJob, nowMs: number, dead: boolean): string {
  const left = parentsLeft(flow, job);
  if (job.state === "waiting" && job.attempt > 0 && job.dueMs > nowMs) return `again in ${durationText(job.dueMs - nowMs)}`;
  if (job.state === "waiting" && left.length > 0) return `waits for ${left.length} of ${job.parents.length}`;
  if (job.state === "running" && dead) return "runs on without a server";
  if (job.state === "running") return `for ${durationText(nowMs - job.sinceMs)}`;
  if (job.state === "dispatched") return "sent, not started yet";
  if (job.state === "ready") return dead ? "ready; nobody hands it out" : "ready; waits for a slot";
  if (job.state === "failed" && job.cause === "upstream") return "dragged down: cascade";
  return isOver(job) ? "" : job.state;
}

export function explainJob(flow: DemoFlow, job: DemoJob, nowMs: number, dead: boolean): Explanation {
  const left = parentsLeft(flow, job);
  if (dead && job.state === "running")
    return { rule: "The lease", text: `${job.name} is a process of its worker, not of the server. It runs on; the worker keeps its output and its end on disk until a server is back, and is adopted if that is within one lease (30 s from the restart). Nothing starts twice.` };
  if (dead) return { rule: "The journal", text: `${job.name} was ${job.state} when the plug was pulled, and that is on disk: every answer left only after its record was synced. The next server reads it back.` };
  if (job.state === "failed" && job.cause === "upstream")
    return { rule: "The cascade", text: `A job that ${job.name} depends on failed for good. The failure goes breadth first to everything behind it, each job once, in the same record: no crash can fall between a failure and its cascade.` };
  if (job.state === "failed") return { rule: "The budget", text: `${job.name} used up its ${job.attemptsMax} attempts (${job.cause || "exit"}). It is a dead letter now, and what depends on it fails with it.` };
  if (job.state === "waiting" && job.attempt > 0)
    return { rule: "Retry", text: `Attempt ${job.attempt} of ${job.attemptsMax} failed. The next is due ${job.dueMs > nowMs ? `in ${durationText(job.dueMs - nowMs)}` : "now"}; the due time is a record, so a restart does not change it.` };
  if (job.state === "waiting")
    return { rule: "Kahn's rule", text: `A job is ready when the number of unfinished jobs that it needs falls to 0. ${job.name} still counts ${left.length} of ${job.parents.length}: ${left.join(", ") || "none"}. Each that ends subtracts one.` };
  if (job.state === "ready") return { rule: "Kahn's rule", text: `The count of ${job.name} fell to 0 in the record that ended its last parent. It takes the next free slot: priority first, then fair share, then first come.` };
  if (job.state === "running" || job.state === "dispatched")
    return { rule: "The lease", text: `Attempt ${job.attempt} of ${job.attemptsMax} is a lease of ${job.worker || "its worker"}: recorded before it was sent, renewed by heartbeats. Only this attempt may report the end; anything stale is refused.` };
  if (job.state === "succeeded") return { rule: "One batch", text: `The end of ${job.name} and the start of what waited for it are one batch of the journal, synced once. Who sees "succeeded" can read the whole log.` };
  return { rule: job.state, text: `${job.name} is ${job.state}${job.cause ? ` (${job.cause})` : ""}.` };
}

const jobTexts: Record<string, string> = {
  ready: "All that it needs is done: its count of open parents fell to 0 (Kahn's rule).",
  dispatched: "A worker was chosen. The choice was synced to disk before it was sent.",
  running: "The worker says that the process has started.",
  succeeded: "Exit code 0. This record also unlocks the jobs that waited for it.",
  held: "A person has to decide. It waits at no cost.",
  cancelled: "Someone called it off.",
  skipped: "Its condition said not to run it.",
  timed_out: "It ran out of its time.",
};

export function explainEvent(event: ChangeEvent): string {
  if (event.type === "worker") return event.to === "attached" || event.to === "online" ? "A worker dialled in and listed everything it holds: attempts that are still open are adopted." : "What is known of a worker changed.";
  if (event.type === "service") return "A service changed its state.";
  if (event.type === "flow") return event.to === "running" ? "The flow was accepted: it is on disk, and nothing can take it away." : "Every job of the flow is over.";
  if (event.to === "waiting") return (event.attempt ?? 0) > 0 ? "The attempt failed; another is due later. The due time is part of the record." : "It waits for jobs that it needs.";
  if (event.to === "failed") return event.cause === "upstream" ? "Dragged down by a job that it needs: the cascade, in the same record." : "No attempts are left: a dead letter.";
  return jobTexts[event.to ?? ""] ?? "A change of state, as the journal has it.";
}
