// What is wrong with a draft, as far as it can be told without the server: said while one draws. The server looks at
// everything again when the flow is checked or submitted.
import { isObject, circleOf, parentsOf, type Draft, type Job, type Json } from "./draft";
import { WORK, fieldsOf, type Field } from "./fields";

export interface Problem {
  job?: string; // whose it is; none: the flow's
  key?: string;
  text: string;
}

const jobFields = new Map(fieldsOf("job").map((field) => [field.key, field]));
const flowFields = new Map(fieldsOf("flow").map((field) => [field.key, field]));
const NAME_BYTES_MAX = 128; // name_bytes_max

function nameProblem(name: string): string | undefined {
  if (name === "") return "A job needs a name.";
  if (/[/#~[\u0000-\u001f\u007f]/.test(name)) return "The name of a job has no control characters and none of / # ~ [";
  if (new TextEncoder().encode(name).length > NAME_BYTES_MAX) return "The name of a job is too long.";
  return undefined;
}

function workProblem(job: Job): string | undefined {
  const work = WORK.filter((key) => job.keys[key] !== undefined);
  if (work.length === 0) return `${job.name} does nothing yet: choose what.`;
  if (work.length > 1) return `${job.name} can do only one of ${work.join(" and ")}.`;
  return undefined;
}

/** A file beside the flow file: the browser has none. */
function fileProblem(job: Job): Problem | undefined {
  for (const key of ["script", "archive"]) {
    const value = job.keys[key];
    if (typeof value === "string" || (isObject(value) && value["file"] !== undefined))
      return { job: job.name, key, text: `${job.name}: \`${key}\` names a file, which only the command line can send. Give its text, or submit the exported file with reeve submit.` };
  }
  return undefined;
}

const DISTANCE_MAX = 2; // letters added, left out or exchanged

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let k = 1; k <= b.length; k++) next.push(Math.min(next[k - 1]! + 1, row[k]! + 1, row[k - 1]! + (a[i - 1] === b[k - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

function nearest(word: string, words: Iterable<string>): string | undefined {
  const far = [...words].map((other) => [distance(word, other), other] as const).sort((a, b) => a[0] - b[0]);
  const [found] = far;
  return found !== undefined && found[0] <= DISTANCE_MAX && found[0] < word.length ? found[1] : undefined;
}

function keyProblems(keys: { [key: string]: Json }, known: Map<string, Field>, whose: string, job?: string): Problem[] {
  return Object.keys(keys).filter((key) => !known.has(key)).map((key) => {
    const near = nearest(key, known.keys());
    const text = `${whose} has no key \`${key}\`${near === undefined ? "" : `; did you mean \`${near}\`?`}`;
    return job === undefined ? { key, text } : { job, key, text };
  });
}

function durationProblems(job: Job): Problem[] {
  const bare = Object.entries(job.keys).filter(([key, value]) => isDuration(jobFields.get(key)) && /^\d+$/.test(String(value)) && Number(value) !== 0);
  return bare.map(([key, value]) => ({ job: job.name, key, text: `${job.name}: \`${key}\` needs a unit, like ${String(value)}s.` }));
}

const isDuration = (field: Field | undefined): boolean => field?.hint?.startsWith("250ms") === true;

function parentProblems(job: Job, names: Set<string>): Problem[] {
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const parent of parentsOf(job)) {
    const near = names.has(parent) || parent.includes("/") ? undefined : nearest(parent, names);
    if (parent === job.name) problems.push({ job: job.name, key: "needs", text: `${job.name} cannot need itself.` });
    else if (seen.has(parent)) problems.push({ job: job.name, key: "needs", text: `${job.name} needs ${parent} twice.` });
    else if (!names.has(parent) && !parent.includes("/"))
      problems.push({ job: job.name, key: "needs", text: `${job.name} needs ${parent}, which is not there${near === undefined ? "." : `; did you mean ${near}?`}` });
    seen.add(parent);
  }
  return problems;
}

function inputProblems(job: Job): Problem[] {
  const inputs = job.keys["inputs"];
  if (!isObject(inputs)) return [];
  const parents = new Set(parentsOf(job));
  const sources = Object.values(inputs).map(String).map((source) => source.split("/")[0]!);
  const strangers = sources.filter((source) => !parents.has(source));
  return strangers.map((source) => ({ job: job.name, key: "inputs", text: `${job.name} takes a file of ${source}, which it does not need.` }));
}

export function problemsOf(draft: Draft): Problem[] {
  const problems: Problem[] = keyProblems(draft.flow, flowFields, "A flow");
  const names = new Set(draft.jobs.map((job) => job.name));
  if (draft.jobs.length === 0) problems.push({ text: "A flow has at least one job." });
  for (const job of draft.jobs) {
    const named = nameProblem(job.name);
    const works = workProblem(job);
    const file = fileProblem(job);
    if (named !== undefined) problems.push({ job: job.name, text: named });
    if (works !== undefined) problems.push({ job: job.name, key: "run", text: works });
    if (file !== undefined) problems.push(file);
    problems.push(...keyProblems(job.keys, jobFields, "A job", job.name), ...durationProblems(job), ...parentProblems(job, names), ...inputProblems(job));
  }
  const circle = circleOf(draft);
  if (circle.length > 0) problems.push({ job: circle[0]!, key: "needs", text: `These jobs wait for each other in a circle: ${circle.join(", ")}.` });
  return problems;
}
