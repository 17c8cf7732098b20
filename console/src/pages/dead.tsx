// Dead letters: jobs that ended badly and that nobody has dealt with. They start again, or are put away, one by one, as
// selected, or all that the filter shows.
import { useState } from "preact/hooks";

import type { PageProps } from "../app";
import { pathOf, post, type JobView, type Schemas } from "../api/client";
import { textOf, usePages } from "../api/pages";
import { may } from "../api/session";
import { setQuery } from "../router";
import { ask } from "../ui/confirm";
import { Ago, JobLink, Page, StateBadge } from "../ui/parts";
import { useQueryField } from "../ui/show";
import { PagedTable, type Column, type Selection } from "../ui/table";
import { act, say } from "../ui/toast";
import { exitText } from "./job/attempts";

const states = ["failed", "timed_out", "denied", "quarantined"];

const columns: Column<JobView>[] = [
  { head: "Job", cell: (job) => <JobLink job={job.job ?? ""} /> },
  { head: "Ended", class: "nowrap", cell: (job) => <StateBadge state={job.state} cause={job.cause} /> },
  { head: "Reason", cell: (job) => job.reason ?? (job.exit_code || job.signal ? exitText(job) : "") },
  { head: "Attempts", number: true, cell: (job) => `${job.attempt ?? 0} of ${Math.max(job.attempt ?? 0, job.attempts_max ?? 0)}` },
  { head: "Worker", class: "nowrap", cell: (job) => job.worker },
  { head: "Since", class: "nowrap", cell: (job) => <Ago ms={job.since_ms} /> },
];

const text = {
  retry: { title: "Retry", done: "start again", action: "Retry", what: "They get a new budget of attempts, and what depends on them goes on." },
  discard: { title: "Discard", done: "are put away", action: "Discard", what: "They leave this list; they stay in the history of their flows." },
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

function useSelection(): [Set<string>, Selection, () => void] {
  const [picked, setPicked] = useState(new Set<string>());
  const set = (keys: string[], on: boolean) =>
    setPicked((last) => {
      const next = new Set(last);
      for (const key of keys) if (on) next.add(key); else next.delete(key);
      return next;
    });
  return [picked, { has: (key) => picked.has(key), set }, () => setPicked(new Set())];
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
    await act(() => post(`/jobs/${pathOf(target)}/${verb}`, {}), `${target} ${verb === "retry" ? "starts again" : "is put away"}`);
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

  const mayChange = may("operator", "submitter");
  const some = (pages.rows?.length ?? 0) > 0;
  return (
    <Page
      title="Dead letters"
      actions={mayChange && some ? (
        <>
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
      <PagedTable
        label="Dead letters" columns={columns} pages={pages} keyOf={(job) => job.job ?? ""} selection={mayChange ? selection : undefined}
        actions={mayChange ? (job) => (
          <>
            <button type="button" onClick={() => void one("retry", job)}>Retry</button>
            <button type="button" class="danger" onClick={() => void one("discard", job)}>Discard</button>
          </>
        ) : undefined}
        empty={flow === "" && name === "" && state === "" ? "No dead letters: every job that failed has been dealt with." : "No dead letter fits the filter."}
      />
    </Page>
  );
}
