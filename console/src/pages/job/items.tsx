// The items of a foreach job, each a job of its own; those that failed can be shown alone.
import { pathOf, type JobView, type Schemas } from "../../api/client";
import { textOf, usePages } from "../../api/pages";
import { setQuery } from "../../router";
import { Ago, durationText, JobLink, StateBadge } from "../../ui/parts";
import { PagedTable, type Column } from "../../ui/table";
import { exitText } from "./attempts";

function tookText(job: JobView): string {
  const took = (job.attempts ?? []).reduce((sum, a) => sum + (a.ended_ms ? a.ended_ms - (a.started_ms || a.assigned_ms || a.ended_ms) : 0), 0);
  return took > 0 ? durationText(took) : "–";
}

const columns: Column<JobView>[] = [
  { head: "Item", cell: (job) => <JobLink job={job.job ?? ""} /> },
  { head: "State", class: "nowrap", cell: (job) => <StateBadge state={job.state} cause={job.cause} /> },
  { head: "Reason", cell: (job) => job.reason ?? (job.exit_code || job.signal ? exitText(job) : "") },
  { head: "Attempts", number: true, cell: (job) => job.attempt ?? 0 },
  { head: "Took", number: true, class: "nowrap", cell: tookText },
  { head: "Worker", class: "nowrap", cell: (job) => job.worker },
  { head: "Since", class: "nowrap", cell: (job) => <Ago ms={job.since_ms} /> },
];

export function Items({ target }: { target: string }) {
  const [flow = "", name = ""] = target.split("/");
  const state = new URLSearchParams(location.search).get("state") ?? "";
  const pages = usePages<Schemas["listed"], JobView>({
    path: `/flows/${pathOf(flow)}/graph`,
    query: { items_of: name, states: state === "" ? undefined : [state], most: 200 },
    rowsOf: (answer) => answer.jobs,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => event.type === "job" && event.target.startsWith(`${target}[`),
  });
  return (
    <>
      <div class="filters">
        <label>
          State
          <select value={state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
            <option value="">all</option>
            {["failed", "running", "succeeded", "waiting", "cancelled"].map((each) => <option key={each} value={each}>{each}</option>)}
          </select>
        </label>
      </div>
      <PagedTable label="Items" columns={columns} pages={pages} keyOf={(job) => job.job ?? ""} empty={state === "" ? "It has no items yet." : "No item is in this state."} />
    </>
  );
}
