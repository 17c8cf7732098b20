// Why a job is in the state that it is in, in sentences, and which rule of the scheduler decided it.
import type { Reason } from "../../api/client";
import { durationText } from "../../ui/parts";
import { stateInfo } from "../../ui/states";
import { workMs, type Attempt, type FlowGraph, type JobNow } from "./model";

export interface Rule {
  name: string;
  text: string;
}

export interface Explanation {
  headline: string;
  facts: string[];
  rule: Rule;
}

export interface Subject {
  graph: FlowGraph;
  now: readonly JobNow[];
  index: number;
  attempts: readonly Attempt[];
  nowMs: number;
  reason?: Reason | undefined; // the server's own word; none for a moment of the past
}

const rules = {
  kahn: { name: "Kahn's rule", text: "A job is ready when the last of the jobs that it needs is done." },
  retry: {
    name: "Retry",
    text: "The delay doubles with each attempt up to a cap. The due time is on disk, so a restart does not change it.",
  },
  question: { name: "Question", text: "A held job takes no slot. The verdict is bound to exactly what the person saw." },
  choice: {
    name: "Choice",
    text: "Priority first, then fair share over tenants, then first come; of the workers that fit, the one with the least load.",
  },
  lease: { name: "Lease", text: "An attempt is a lease: the worker is heard of in time, or the job is given to another." },
  check: { name: "Output policy", text: "What the job left is judged before it counts as succeeded." },
  batch: {
    name: "One batch",
    text: "The end of a job and the start of what waited for it are written in one batch: no crash falls between.",
  },
  cascade: { name: "Cascade", text: "A failure goes breadth first to everything that depends on it, each job once." },
  budget: { name: "Budget", text: "Exit, loss and timeout each use up one attempt; with none left the job is a dead letter." },
  person: { name: "Decision", text: "Someone, or a rule set by someone, decided so; the journal has who and when." },
  when: { name: "Condition", text: "The job's `when`, or what it does when something before it fails, said not to run it." },
} satisfies Record<string, Rule>;

const plural = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

function parentsLeft(subject: Subject): string[] {
  const { graph, now, index } = subject;
  const parents = graph.nodes[index]!.parents;
  const open = parents.filter((parent) => !stateInfo(now[parent]?.state).over);
  if (open.length === 0) return [];
  const named = open.slice(0, 3).map((parent) => `${graph.nodes[parent]!.name} (${stateInfo(now[parent]!.state).label})`);
  const more = open.length > 3 ? ` and ${open.length - 3} more` : "";
  return [
    `${parents.length - open.length} of ${plural(parents.length, "dependency", "dependencies")} done; left: ${named.join(", ")}${more}`,
  ];
}

function waiting(subject: Subject): Explanation {
  const job = subject.now[subject.index]!;
  if (job.items !== undefined && subject.graph.nodes[subject.index]!.items > 0 && job.items.open > 0)
    return { headline: `It waits for its items: ${plural(job.items.open, "is", "are")} under way`, facts: [], rule: rules.kahn };
  if (job.attempt > 0 && job.dueMs > 0) {
    const headline = job.dueMs > subject.nowMs ? `Retry due in ${durationText(job.dueMs - subject.nowMs)}` : "Retry due now";
    return { headline, facts: [`attempt ${job.attempt} failed${job.cause ? ` (${job.cause})` : ""}`], rule: rules.retry };
  }
  const left = parentsLeft(subject);
  if (left.length > 0) return { headline: "It waits for other jobs", facts: left, rule: rules.kahn };
  if (job.dueMs > subject.nowMs) {
    return { headline: `It may start in ${durationText(job.dueMs - subject.nowMs)}`, facts: [], rule: rules.kahn };
  }
  return { headline: "It waits", facts: [], rule: rules.kahn };
}

function active(subject: Subject): Explanation {
  const job = subject.now[subject.index]!;
  const on = job.worker === "" ? "" : ` on ${job.worker}`;
  const for_ = durationText(subject.nowMs - job.sinceMs);
  const attempt = `attempt ${job.attempt} of ${subject.graph.nodes[subject.index]!.attemptsMax}`;
  if (job.state === "dispatched")
    return { headline: `Sent${on}, not started yet`, facts: [attempt, `for ${for_}`], rule: rules.lease };
  if (job.state === "checking") return { headline: "Its output is being judged", facts: [`for ${for_}`], rule: rules.check };
  return { headline: `Running${on} for ${for_}`, facts: [attempt], rule: rules.lease };
}

function ended(subject: Subject): Explanation {
  const job = subject.now[subject.index]!;
  const took = workMs(subject.attempts, subject.nowMs);
  const facts: string[] = [];
  if (subject.attempts.length > 0) facts.push(`${plural(subject.attempts.length, "attempt")}, ${durationText(took)} of work`);
  if (job.exitCode > 0) facts.push(`exit code ${job.exitCode}`);
  if (job.reason !== "") facts.push(job.reason);
  const cause = job.cause === "" || job.cause === "none" ? "" : ` (${job.cause.replaceAll("_", " ")})`;
  if (job.cause === "upstream") {
    const root = job.root === "" ? "a job before it" : job.root.slice(job.root.indexOf("/") + 1);
    const what = job.state === "upstream_failed" ? "Not run" : stateInfo(job.state).label;
    return { headline: `${what} because ${root} did not succeed`, facts, rule: rules.cascade };
  }
  const ruleOf: Record<string, Rule> = {
    succeeded: rules.batch,
    skipped: rules.when,
    cancelled: rules.person,
    denied: rules.person,
    quarantined: rules.check,
  };
  const label = stateInfo(job.state).label;
  return { headline: label.charAt(0).toUpperCase() + label.slice(1) + cause, facts, rule: ruleOf[job.state] ?? rules.budget };
}

/** The rule that the server's reason for a ready job stands for. */
function choiceRule(reason: Reason | undefined): Rule {
  const code = reason?.code ?? "";
  if (code.includes("limit") || code === "paused")
    return { name: "Limit", text: "A key, a rate, a tenant or a pause holds it back; the counters are exact and replayed." };
  if (code.includes("capab") || code.includes("worker") || code.includes("pool"))
    return {
      name: "Fit",
      text: "A worker must have the pool, the capabilities, the labels and the resources that the job asks for.",
    };
  return rules.choice;
}

export function explain(subject: Subject): Explanation {
  const job = subject.now[subject.index]!;
  const said = subject.reason?.text ?? "";
  let explanation: Explanation;
  if (isEnded(job)) explanation = ended(subject);
  else if (job.state === "waiting") explanation = waiting(subject);
  else if (job.state === "held") explanation = { headline: said || "It waits for a decision", facts: [], rule: rules.question };
  else if (job.state === "ready")
    explanation = {
      headline: said || "Ready: it waits for a slot",
      facts: [`for ${durationText(subject.nowMs - job.sinceMs)}`],
      rule: choiceRule(subject.reason),
    };
  else explanation = active(subject);
  if (job.state === "waiting" && said !== "" && explanation.headline === "It waits")
    explanation = { ...explanation, headline: said };
  return explanation;
}

const isEnded = (job: JobNow) => stateInfo(job.state).over;
