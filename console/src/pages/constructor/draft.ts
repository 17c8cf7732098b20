// A flow that is being drawn: the keys of its file, and where its jobs stand. Every change makes a new draft, so that
// undoing one is going back to the draft before it. Knows nothing of the page.
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Keys = { [key: string]: Json };

export interface Job {
  name: string;
  keys: Keys; // as in a flow file, `needs` among them
  x: number;
  y: number;
}

export interface Draft {
  flow: Keys; // all but `jobs`
  jobs: Job[];
}

export interface Edge {
  from: string;
  to: string;
}

export const isObject = (value: Json | undefined): value is Keys =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function listOf(value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

export const parentsOf = (job: Job): string[] => listOf(job.keys["needs"]);

/** Those between jobs of this flow; FLOW/JOB has no place in the drawing. */
export function edgesOf(draft: Draft): Edge[] {
  const names = new Set(draft.jobs.map((job) => job.name));
  return draft.jobs.flatMap((job) => parentsOf(job).filter((parent) => names.has(parent)).map((from) => ({ from, to: job.name })));
}

/** The names from which a way leads to `name`, itself among them. */
export function ancestorsOf(draft: Draft, name: string): Set<string> {
  const jobs = new Map(draft.jobs.map((job) => [job.name, job]));
  const found = new Set([name]);
  const open = [name];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const job = jobs.get(next);
    for (const parent of job === undefined ? [] : parentsOf(job)) {
      if (found.has(parent)) continue;
      found.add(parent);
      open.push(parent);
    }
  }
  return found;
}

// ---- changes ----

function withKey(keys: Keys, key: string, value: Json | undefined): Keys {
  const { [key]: _old, ...rest } = keys;
  if (value === undefined) return rest;
  // An old key keeps its place, so that the text does not jump while one types.
  return key in keys ? Object.fromEntries(Object.entries(keys).map(([k, v]) => [k, k === key ? value : v])) : { ...rest, [key]: value };
}

/** Sets what stands at a path of keys; undefined takes it away, and with it objects that are then empty. */
export function setPath(keys: Keys, path: string[], value: Json | undefined): Keys {
  const [key, ...rest] = path;
  if (key === undefined) return keys;
  if (rest.length === 0) return withKey(keys, key, value);
  const inner = keys[key];
  const next = setPath(isObject(inner) ? inner : {}, rest, value);
  return withKey(keys, key, value === undefined && Object.keys(next).length === 0 ? undefined : next);
}

const changeJob = (draft: Draft, name: string, change: (job: Job) => Job): Draft => ({
  ...draft,
  jobs: draft.jobs.map((job) => (job.name === name ? change(job) : job)),
});

export const setJobKey = (draft: Draft, name: string, path: string[], value: Json | undefined): Draft =>
  changeJob(draft, name, (job) => ({ ...job, keys: setPath(job.keys, path, value) }));

export const setFlowKey = (draft: Draft, path: string[], value: Json | undefined): Draft => ({ ...draft, flow: setPath(draft.flow, path, value) });

function setParents(job: Job, parents: string[]): Job {
  const needs = parents.length === 0 ? undefined : parents.length === 1 ? parents[0]! : parents;
  return { ...job, keys: withKey(job.keys, "needs", needs) };
}

/** A name that is free: `name` itself, or with a number. */
export function freeName(draft: Draft, name: string): string {
  const taken = new Set(draft.jobs.map((job) => job.name));
  const base = name.replace(/-\d+$/, "");
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${base}-${n}`;
  return free;
}

export function addJob(draft: Draft, at: { x: number; y: number }, keys: Keys = { run: "echo hello" }, name = "job"): [Draft, string] {
  const free = freeName(draft, name);
  return [{ ...draft, jobs: [...draft.jobs, { name: free, keys, x: at.x, y: at.y }] }, free];
}

export function removeJobs(draft: Draft, names: ReadonlySet<string>): Draft {
  const left = draft.jobs.filter((job) => !names.has(job.name));
  return { ...draft, jobs: left.map((job) => dropParents(job, (parent) => names.has(parent))) };
}

function dropParents(job: Job, isGone: (parent: string) => boolean): Job {
  const parents = parentsOf(job);
  const left = parents.filter((parent) => !isGone(parent));
  return left.length === parents.length ? job : setParents(job, left);
}

/** Copies, beside the originals; edges among them are copied, those from outside kept. */
export function duplicateJobs(draft: Draft, names: ReadonlySet<string>): [Draft, Set<string>] {
  let next = draft;
  const copies = new Map<string, string>();
  for (const job of draft.jobs) {
    if (!names.has(job.name)) continue;
    const [more, name] = addJob(next, { x: job.x + 40, y: job.y + 40 }, structuredClone(job.keys), job.name);
    copies.set(job.name, name);
    next = more;
  }
  for (const name of copies.values())
    next = changeJob(next, name, (job) => setParents(job, parentsOf(job).map((parent) => copies.get(parent) ?? parent)));
  return [next, new Set(copies.values())];
}

export const moveJobs = (draft: Draft, names: ReadonlySet<string>, dx: number, dy: number): Draft => ({
  ...draft,
  jobs: draft.jobs.map((job) => (names.has(job.name) ? { ...job, x: job.x + dx, y: job.y + dy } : job)),
});

/** Why there can be no edge, in words; undefined when there can. */
export function whyNoEdge(draft: Draft, from: string, to: string): string | undefined {
  if (from === to) return "A job cannot need itself.";
  const target = draft.jobs.find((job) => job.name === to);
  if (target === undefined) return `There is no job ${to}.`;
  if (parentsOf(target).includes(from)) return `${to} needs ${from} already.`;
  if (ancestorsOf(draft, from).has(to)) return `${from} comes after ${to}: that would be a circle.`;
  return undefined;
}

export const connect = (draft: Draft, from: string, to: string): Draft =>
  changeJob(draft, to, (job) => setParents(job, [...parentsOf(job), from]));

export const disconnect = (draft: Draft, edge: Edge): Draft =>
  changeJob(draft, edge.to, (job) => dropParents(job, (parent) => parent === edge.from));

/** Renames a job, and its name wherever others speak of it: needs, inputs, templates and expressions. */
export function renameJob(draft: Draft, from: string, to: string): Draft {
  const jobs = draft.jobs.map((job) => {
    const keys = renameIn(job.keys, from, to) as Keys;
    const renamed = { ...job, name: job.name === from ? to : job.name, keys };
    const parents = parentsOf(job);
    return parents.includes(from) ? setParents(renamed, parents.map((parent) => (parent === from ? to : parent))) : renamed;
  });
  return { ...draft, jobs };
}

function renameIn(value: Json, from: string, to: string): Json {
  if (typeof value === "string") return renameInText(value, from, to);
  if (Array.isArray(value)) return value.map((item) => renameIn(item, from, to));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => {
    if (key === "inputs" && isObject(inner)) return [key, renameInputs(inner, from, to)];
    return [key, key === "needs" ? inner : renameIn(inner, from, to)];
  });
  return Object.fromEntries(entries);
}

function renameInputs(inputs: Keys, from: string, to: string): Keys {
  const rename = (source: Json) => (typeof source === "string" && source.startsWith(`${from}/`) ? to + source.slice(from.length) : source);
  return Object.fromEntries(Object.entries(inputs).map(([file, source]) => [file, rename(source)]));
}

const isWord = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);

function renameInText(text: string, from: string, to: string): string {
  const plain = from.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const said = isWord(to) ? `jobs.${to}` : `jobs[${JSON.stringify(to)}]`;
  return text.replace(new RegExp(`\\bjobs(?:\\.${plain}(?![\\w-])|\\["${plain}"\\])`, "g"), () => said);
}

// ---- files ----

/** The flow file that the draft stands for. */
export function fileOf(draft: Draft): Keys {
  return { ...draft.flow, jobs: Object.fromEntries(draft.jobs.map((job) => [job.name, job.keys])) };
}

/** The draft of a flow file; jobs that stand in `old` keep their places, `place` finds some for the others. */
export function draftOf(file: Json, place: (draft: Draft) => Draft, old?: Draft): Draft {
  if (!isObject(file)) throw new Error("A flow file is an object with `jobs`.");
  const { jobs = {}, ...flow } = file;
  if (!isObject(jobs)) throw new Error("`jobs` is an object: the jobs by name.");
  const places = new Map(old?.jobs.map((job) => [job.name, job]));
  const list = Object.entries(jobs).map(([name, keys]): Job => {
    if (typeof keys !== "string" && !isObject(keys)) throw new Error(`The job \`${name}\` is an object, or a text that is its \`run\`.`);
    const at = places.get(name);
    return { name, keys: typeof keys === "string" ? { run: keys } : keys, x: at?.x ?? NaN, y: at?.y ?? NaN };
  });
  const draft = { flow, jobs: list };
  if (list.every((job) => !Number.isNaN(job.x))) return draft;
  const placed = new Map(place(draft).jobs.map((job) => [job.name, job]));
  if (list.every((job) => Number.isNaN(job.x))) return { flow, jobs: list.map((job) => placed.get(job.name)!) };
  return { flow, jobs: list.map((job) => (Number.isNaN(job.x) ? placed.get(job.name)! : job)) };
}

/** The jobs that can never begin because they wait for each other, or for some that do. */
export function circleOf(draft: Draft): string[] {
  const left = new Map(draft.jobs.map((job) => [job.name, new Set<string>()]));
  for (const { from, to } of edgesOf(draft)) left.get(to)!.add(from);
  for (let ready = freed(left); ready.length > 0; ready = freed(left)) {
    for (const name of ready) left.delete(name);
    for (const parents of left.values()) for (const name of ready) parents.delete(name);
  }
  return [...left.keys()];
}

const freed = (left: Map<string, Set<string>>): string[] => [...left].filter(([, parents]) => parents.size === 0).map(([name]) => name);
