// The states that a job went through, from the journal, and its neighbours in the flow.
import { useEffect, useState } from "preact/hooks";

import { ApiError, get, pathOf, type JobView, type Schemas } from "../../api/client";
import type { ChangeEvent } from "../../api/events";
import { textOf, usePages } from "../../api/pages";
import { dateText, durationText, Empty, JobLink, Loading, Problem, StateBadge } from "../../ui/parts";
import { Table, type Column } from "../../ui/table";

interface HistoryPage {
  events?: ChangeEvent[];
  cursor?: string;
  gap?: boolean;
}

const PAGES_MAX = 50; // of 1,000 events: of a larger flow the beginning is shown

async function historyOf(target: string, signal: AbortSignal): Promise<HistoryPage> {
  const flow = target.split("/")[0] ?? "";
  const all: ChangeEvent[] = [];
  let since: string | undefined;
  let gap = false;
  for (let page = 0; page < PAGES_MAX; page++) {
    const got = await get<HistoryPage>(`/flows/${pathOf(flow)}/events`, { since, most: 1000 }, signal);
    all.push(...(got.events ?? []).filter((event) => event.type === "job" && event.target === target));
    gap ||= got.gap === true;
    since = got.cursor;
    if (since === undefined) break;
  }
  return { events: all, gap };
}

interface Entry extends ChangeEvent {
  tookMs: number | undefined; // in the state it came to
}

const columns: Column<Entry>[] = [
  { head: "Time", class: "nowrap", cell: (entry) => dateText(entry.time_ms) },
  { head: "State", class: "nowrap", cell: (entry) => <StateBadge state={entry.to} cause={entry.cause} /> },
  { head: "Duration", number: true, class: "nowrap", cell: (entry) => (entry.tookMs === undefined ? "" : durationText(entry.tookMs)) },
  { head: "Attempt", number: true, cell: (entry) => entry.attempt ?? "" },
  { head: "Worker", cell: (entry) => entry.worker ?? "" },
  { head: "Position", class: "nowrap", cell: (entry) => <code class="faint">{entry.position}</code> },
];

export function History({ target, version }: { target: string; version: number }) {
  const [got, setGot] = useState<HistoryPage>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    const abort = new AbortController();
    historyOf(target, abort.signal).then(setGot, (why: unknown) => {
      if (!abort.signal.aborted) setError(why instanceof ApiError ? why : new ApiError(0, "unknown", String(why)));
    });
    return () => abort.abort();
  }, [target, version]);
  if (got === undefined) return error ? <Problem error={error} /> : <Loading />;
  const events = got.events ?? [];
  const entries = events.map((event, at) => {
    const next = events[at + 1];
    return { ...event, tookMs: next === undefined ? undefined : next.time_ms - event.time_ms };
  });
  return (
    <>
      {got.gap ? <p class="faint">The beginning is no longer in the archive.</p> : null}
      {entries.length === 0 ? <Empty>The journal has nothing of it any more.</Empty> : null}
      {entries.length > 0 ? <Table label="States" columns={columns} rows={entries} keyOf={(entry) => entry.position} /> : null}
    </>
  );
}

function Neighbour({ flow, name, jobs }: { flow: string; name: string; jobs: JobView[] }) {
  const target = `${flow}/${name}`;
  const job = jobs.find((each) => each.job === target);
  return <li><JobLink job={target} /> {job ? <StateBadge state={job.state} cause={job.cause} /> : null}</li>;
}

/** Which jobs it waits for and which wait for it. */
export function Neighbours({ job, target }: { job: JobView; target: string }) {
  const [flow = "", name = ""] = target.split("/");
  const got = usePages<Schemas["listed"], JobView>({
    path: `/flows/${pathOf(flow)}/graph`,
    query: { most: 1000 },
    rowsOf: (answer) => answer.jobs,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => event.type === "job" && event.target.startsWith(`${flow}/`),
    all: true,
  });
  const jobs = got.rows ?? [];
  const children = jobs.filter((each) => each.parents?.includes(name)).map((each) => each.job?.split("/")[1] ?? "");
  const parents = job.parents ?? [];
  return (
    <div class="neighbours">
      <section class="card">
        <h3>Needs</h3>
        {parents.length === 0 ? <p class="faint">no other job</p> : null}
        <ul>{parents.map((each) => <Neighbour key={each} flow={flow} name={each} jobs={jobs} />)}</ul>
      </section>
      <section class="card">
        <h3>Needed by</h3>
        {children.length === 0 && got.rows !== undefined ? <p class="faint">no job</p> : null}
        <ul>{children.map((each) => <Neighbour key={each} flow={flow} name={each} jobs={jobs} />)}</ul>
      </section>
    </div>
  );
}
