// Dead letters: failed jobs that nobody has handled yet. They start again or are discarded: one by one, as selected, by
// cause, or all that the filter shows.
import type { PageProps } from "../app";
import { pathOf, post, type JobView, type Schemas } from "../api/client";
import { textOf, usePages } from "../api/pages";
import { may } from "../api/session";
import { setQuery } from "../router";
import { ask } from "../ui/confirm";
import { Ago, FlowName, JobLink, Page, StateBadge } from "../ui/parts";
import { useQueryField } from "../ui/show";
import { PagedTable, Table, useSelection, type Column } from "../ui/table";
import { act, say } from "../ui/toast";
import { exitText } from "./job/attempts";

const states = ["failed", "timed_out", "denied", "quarantined"];

const reasonOf = (job: JobView) => job.reason ?? (job.exit_code || job.signal ? exitText(job) : "");

const columns: Column<JobView>[] = [
  { head: "Job", key: "job", cell: (job) => <><JobLink job={job.job ?? ""} /><div><FlowName job={job.job ?? ""} /></div></> },
  { head: "Ended", key: "state", class: "nowrap", cell: (job) => <StateBadge state={job.state} cause={job.cause} /> },
  { head: "Reason", key: "reason", class: "dead-reason", cell: reasonOf },
  { head: "Attempts", number: true, cell: (job) => `${job.attempt ?? 0} of ${Math.max(job.attempt ?? 0, job.attempts_max ?? 0)}` },
  { head: "Worker", class: "nowrap", cell: (job) => job.worker },
  { head: "Since", key: "since", class: "nowrap", cell: (job) => <Ago ms={job.since_ms} /> },
];

const orders: Record<string, (a: JobView, b: JobView) => number> = {
  job: (a, b) => (a.job ?? "").localeCompare(b.job ?? "", undefined, { numeric: true }),
  state: (a, b) => (a.state ?? "").localeCompare(b.state ?? "") || (a.cause ?? "").localeCompare(b.cause ?? ""),
  reason: (a, b) => reasonOf(a).localeCompare(reasonOf(b)),
  since: (a, b) => (a.since_ms ?? 0) - (b.since_ms ?? 0),
};

interface Cause {
  key: string;
  jobs: JobView[]; // the newest first
}

/** Numbers and ids differ from job to job although the cause is one. */
function groupByCause(jobs: JobView[]): Cause[] {
  const groups = new Map<string, JobView[]>();
  for (const job of jobs) {
    const key = `${job.state ?? ""} ${job.cause ?? ""}: ${reasonOf(job).replaceAll(/[0-9a-f]{8,}|\d+/g, "…")}`;
    groups.set(key, [...(groups.get(key) ?? []), job]);
  }
  return [...groups].map(([key, list]) => ({ key, jobs: list })).sort((a, b) => b.jobs.length - a.jobs.length);
}

const causeColumns: Column<Cause>[] = [
  { head: "Jobs", number: true, cell: (cause) => cause.jobs.length.toLocaleString() },
  { head: "Ended", class: "nowrap", cell: ({ jobs: [job] }) => <StateBadge state={job!.state} cause={job!.cause} /> },
  { head: "Reason", class: "dead-reason", cell: ({ jobs: [job] }) => reasonOf(job!) },
  { head: "Latest", cell: ({ jobs: [job] }) => <><JobLink job={job!.job ?? ""} /> <Ago ms={job!.since_ms} /></> },
];

const text = {
  retry: { title: "Retry", done: "start again", action: "Retry", what: "They get a new budget of attempts, and what depends on them goes on." },
  discard: { title: "Discard", done: "discarded", action: "Discard", what: "They leave this list; they stay in the history of their flows." },
};
type Verb = keyof typeof text;

type Result = Schemas["result"];

/** All that the filter or the list names, in as many requests as it takes: each does a thousand at most. */
async function changeAll(verb: Verb, body: object): Promise<Result[]> {
  const all: Result[] = [];
  for (;;) {
    const { results = [], more } = await post<Schemas["accepted"] & { more?: boolean }>(`/dead/${verb}`, body);
    all.push(...results);
    if (!more || results.every(isRefused)) return all; // those that are refused would come again
  }
}

const isRefused = (result: Result) => result.code !== undefined && result.code !== "ok";

/** How many were done, and the first refusal in the server's words. */
function outcome(results: Result[], verb: Verb): string {
  const refused = results.filter(isRefused);
  const first = refused[0];
  const rest = first === undefined ? "" : `; ${refused.length} refused, ${first.target}: ${first.message}`;
  return `${results.length - refused.length} ${text[verb].done}${rest}`;
}

export default function DeadPage({ place }: PageProps) {
  const flow = place.query.get("flow") ?? "";
  const state = place.query.get("state") ?? "";
  const name = place.query.get("name") ?? "";
  const flowField = useQueryField("flow", flow);
  const nameField = useQueryField("name", name);
  const [picked, selection, forget] = useSelection();
  const query = { flow: flow || undefined, name: name || undefined, states: state === "" ? undefined : [state] };
  const pages = usePages<Schemas["listed"], JobView>({
    path: "/dead",
    query: { ...query, most: 100, newest: true },
    rowsOf: (answer) => answer.jobs,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => event.type === "job" && (states.includes(event.to ?? "") || states.includes(event.from ?? "")),
  });
  const chosen = (pages.rows ?? []).map((job) => job.job ?? "").filter((job) => picked.has(job));

  const one = async (verb: Verb, job: JobView) => {
    const target = job.job ?? "";
    await act(() => post(`/jobs/${pathOf(target)}/${verb}`, {}), `${target} ${verb === "retry" ? "starts again" : "is discarded"}`);
    pages.reload();
  };
  const many = async (verb: Verb, targets: string[] | null) => {
    const which = targets === null ? "all dead letters that the filter shows, also those not loaded yet" : `${targets.length} dead letters`;
    const sure = await ask({ title: `${text[verb].title} ${which}?`, text: text[verb].what, action: text[verb].action, danger: verb === "discard" });
    if (sure === null) return;
    const body = targets === null ? { ...query, all: true } : { targets };
    const results = await act(() => changeAll(verb, body));
    if (results !== undefined) say(outcome(results, verb));
    forget();
    pages.reload();
  };

  const sort = place.query.get("sort") ?? "";
  const isGrouped = place.query.get("group") === "cause";
  const order = orders[sort];
  const rows = order === undefined ? pages.rows : pages.rows && [...pages.rows].sort(order);
  const mayChange = may("operator", "submitter");
  const some = (pages.rows?.length ?? 0) > 0;
  return (
    <Page
      title="Dead letters"
      actions={mayChange && some ? (
        <>
          <button type="button" aria-pressed={isGrouped} onClick={() => setQuery({ group: isGrouped ? null : "cause" })}>Group by cause</button>
          <button type="button" onClick={() => void many("retry", null)}>Retry all</button>
          <button type="button" class="danger" onClick={() => void many("discard", null)}>Discard all</button>
        </>
      ) : null}
    >
      <div class="filters">
        <label class="wide">Job begins with<input type="search" {...nameField} /></label>
        <label>Flow<input type="search" placeholder="f3k9a" {...flowField} /></label>
        <label>
          Ended
          <select value={state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
            <option value="">in any way</option>
            {states.map((each) => <option key={each} value={each}>{each.replaceAll("_", " ")}</option>)}
          </select>
        </label>
      </div>
      {chosen.length > 0 ? (
        <div class="bulk" role="group" aria-label="Selected dead letters">
          <span>{chosen.length} selected</span>
          <span class="push" />
          <button type="button" class="primary" onClick={() => void many("retry", chosen)}>Retry selected</button>
          <button type="button" class="danger" onClick={() => void many("discard", chosen)}>Discard selected</button>
        </div>
      ) : null}
      {isGrouped && pages.rows !== undefined && some ? (
        <>
          <Table
            label="Dead letters by cause" columns={causeColumns} rows={groupByCause(pages.rows)} keyOf={(cause) => cause.key}
            actions={mayChange ? ({ jobs }) => (
              <>
                <button type="button" onClick={() => void many("retry", jobs.map((job) => job.job ?? ""))}>Retry</button>
                <button type="button" class="danger" onClick={() => void many("discard", jobs.map((job) => job.job ?? ""))}>Discard</button>
              </>
            ) : undefined}
          />
          {pages.more ? <p class="more"><span class="faint">of the newest {pages.rows.length}</span> <button type="button" onClick={pages.more}>More</button></p> : null}
        </>
      ) : (
        <PagedTable
          label="Dead letters" columns={columns} pages={{ ...pages, rows }} keyOf={(job) => job.job ?? ""} selection={mayChange ? selection : undefined}
          sort={sort} onSort={(key) => setQuery({ sort: key })}
          actions={mayChange ? (job) => (
            <>
              <button type="button" onClick={() => void one("retry", job)}>Retry</button>
              <button type="button" class="danger" onClick={() => void one("discard", job)}>Discard</button>
            </>
          ) : undefined}
          empty={flow === "" && name === "" && state === "" ? "No dead letters: every failed job has been handled." : "No dead letter fits the filter."}
        />
      )}
    </Page>
  );
}
