// The seven steps, reached by hand or by the Auto-Demo: what is true now says which is next.
import type { DemoFlow } from "./facts";
import { unsettled, type Playground } from "./status";

export const steps = [
  { id: "load", title: "Choose a flow", text: "a graph of real processes" },
  { id: "submit", title: "Run it", text: "accepted means on disk" },
  { id: "work", title: "A job runs", text: "on a worker, under a lease" },
  { id: "kill", title: "Pull the plug", text: "kill -9, for real" },
  { id: "outage", title: "Outage", text: "what runs, runs on" },
  { id: "recover", title: "Recover", text: "the journal is read back" },
  { id: "on", title: "It goes on", text: "nothing lost, nothing twice" },
] as const;

export type StepId = (typeof steps)[number]["id"];

export interface Facts {
  flow: DemoFlow | undefined;
  chosen: boolean; // a flow to run
  submitted: boolean; // it was accepted; what is known of it may still be on its way
  now: Playground | undefined;
  killsBefore: number; // when the flow was submitted
  streaming: boolean;
}

/** Since the flow was submitted; a page that does not know when that was sees at least that the server is dead. */
function isKilled({ now, killsBefore }: Facts): boolean {
  return now !== undefined && (now.kills > killsBefore || now.server === "dead");
}

/** How many steps are done. */
export function reached(facts: Facts): number {
  const { flow, now } = facts;
  if (!facts.chosen) return 0;
  if (flow === undefined) return 1;
  const killed = isKilled(facts);
  const worked = killed || flow.jobs.some((job) => job.attempt > 0);
  if (!worked) return 2;
  if (!killed) return 3;
  if (now?.server !== "running") return 5;
  const isBack = facts.streaming && now.recovery !== undefined && unsettled(now.recovery) === 0;
  if (!isBack) return 5;
  return flow.state === "running" ? 6 : 7;
}

/** Both branches run, where the flow has two; or there was no room for them side by side. */
function isWorthKilling({ jobs }: DemoFlow): boolean {
  const running = jobs.filter((job) => job.state === "running").length;
  const branches = jobs.some((one) => jobs.some((other) => other !== one && other.parents.join() === one.parents.join()));
  const late = jobs.filter((job) => job.state === "succeeded").length > 1;
  return running >= (branches && !late ? 2 : 1);
}

export type Deed = "submit" | "kill" | "recover";

/** What the Auto-Demo does next; undefined: it waits for something to happen. */
export function nextDeed(facts: Facts, outageSeenMs: number): Deed | undefined {
  const { flow, now } = facts;
  if (flow === undefined) return facts.submitted ? undefined : "submit";
  if (!isKilled(facts) && now?.server === "running") return isWorthKilling(flow) ? "kill" : undefined;
  if (now?.server === "dead" && outageSeenMs >= OUTAGE_SHOWN_MS) return "recover";
  return undefined;
}

export const OUTAGE_SHOWN_MS = 3000; // long enough to see that the jobs run on
