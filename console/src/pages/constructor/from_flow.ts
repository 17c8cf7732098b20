// A flow that ran as the beginning of a draft: the file it was submitted from. Of a flow without one the server tells
// jobs as they run, so parameters are filled in already, and what it does not tell (retries, places) is left as usual.
import { get, pathOf, text, type FlowView, type JobView, type Schemas } from "../../api/client";
import { listOf, type Json, type Keys } from "./draft";
import { readText } from "./yaml";

const JOBS_MAX = 200; // more than that nobody draws by hand

const textOr = (value: unknown): Json | undefined => (typeof value === "string" ? value : undefined);

function workOf(view: JobView, run: Schemas["run"]): Keys {
  if (view.kind === "gate") return { gate: { message: run.message ?? "Go on?" } };
  if (view.kind === "external") return { external: run.message ?? "a word from outside" };
  if (view.kind === "noop") return { noop: true };
  if (view.kind === "sleep") return { sleep: `${run.sleep_ms ?? 0}ms` };
  if (view.kind === "fail") return { fail: run.exit_code ?? 1 };
  const script = textOr(run.script);
  if (script !== undefined) return { script: { text: script, ...(run.script_name ? { name: run.script_name } : {}) } };
  if (run.shell !== undefined) return { run: run.shell };
  return run.argv === undefined ? {} : { run: run.argv };
}

export function keysOf(view: JobView): Keys {
  const run = view.body ?? {};
  const parents = view.parents ?? [];
  const stdin = textOr(run.stdin_text);
  return {
    ...(parents.length === 0 ? {} : { needs: parents.length === 1 ? parents[0]! : parents }),
    ...workOf(view, run),
    ...(run.when === undefined ? {} : { when: run.when }),
    ...(run.foreach === undefined ? {} : { foreach: run.foreach }),
    ...(run.env === undefined ? {} : { env: run.env }),
    ...(stdin === undefined ? {} : { stdin }),
    ...(run.workdir === undefined ? {} : { workdir: run.workdir }),
    ...(view.pool === undefined || view.pool === "default" ? {} : { pool: view.pool }),
  };
}

const nameOf = (job: string): string => job.slice(job.indexOf("/") + 1);
const isDrawn = (name: string): boolean => !/[~[]/.test(name); // children of foreach and compensations come by themselves

export async function flowAsFile(flow: string): Promise<Keys> {
  const path = `/flows/${pathOf(flow)}`;
  const head = await get<Schemas["got"]>(path);
  if (head.flow?.source !== undefined) return readText(await text(`${path}/source`)) as Keys;
  const got = await get<{ flow?: FlowView; jobs?: JobView[] }>(path, { details: true });
  const names = (got.jobs ?? []).map((job) => nameOf(job.job ?? "")).filter(isDrawn);
  if (names.length > JOBS_MAX) throw new Error(`${flow} has ${names.length} jobs; a draft has at most ${JOBS_MAX}.`);
  const jobs: Keys = {};
  for (const name of names) jobs[name] = keysOf(await get<JobView>(`/jobs/${pathOf(flow)}/${encodeURIComponent(name)}`));
  for (const keys of Object.values(jobs) as Keys[]) dropUnknown(keys, names);
  const name = got.flow?.name;
  const labels = got.flow?.labels as Keys | undefined;
  return { ...(name === undefined ? {} : { name }), ...(labels === undefined ? {} : { labels }), jobs };
}

/** Barriers of phases and the like are parents that nobody can name. */
function dropUnknown(keys: Keys, names: string[]): void {
  const parents = listOf(keys["needs"]).filter((parent) => names.includes(parent) || parent.includes("/"));
  if (parents.length === 0) delete keys["needs"];
  else keys["needs"] = parents;
}
