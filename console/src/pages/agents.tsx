// Runs of agents: flows that carry the same label `agent_run_id`, added up.
import type { PageProps } from "../app";
import type { FlowView, Schemas } from "../api/client";
import { textOf, usePages, type Paged } from "../api/pages";
import { Link, setQuery } from "../router";
import { Ago, dateText, Empty, FlowLink, Loading, Page, Problem, StateBadge } from "../ui/parts";
import { Meter, useQueryField } from "../ui/show";
import { PagedTable, Table, type Column } from "../ui/table";
import { groupRuns, RUN_LABEL, type AgentRun } from "./agents/group";

const flowColumns: Column<FlowView>[] = [
  { head: "Flow", cell: (flow) => <FlowLink flow={flow.flow ?? ""} name={flow.name} /> },
  { head: "State", class: "nowrap", cell: (flow) => <StateBadge state={flow.state} /> },
  { head: "Jobs", number: true, cell: (flow) => flow.job_count ?? 0 },
  { head: "By", cell: (flow) => flow.principal },
  { head: "Submitted", class: "nowrap", cell: (flow) => <Ago ms={flow.created_ms} /> },
];

const runColumns = (open: string): Column<AgentRun>[] => [
  {
    head: "Run",
    cell: (run) => (
      <button type="button" class="quiet link mono" aria-expanded={open === run.id} onClick={() => setQuery({ run: open === run.id ? null : run.id })}>
        <span aria-hidden="true">{open === run.id ? "▾" : "▸"}</span> {run.id}
      </button>
    ),
  },
  {
    head: "Flows",
    cell: (run) => <span class="tags">{[...run.states].map(([state, count]) => <span key={state}><StateBadge state={state} /> {count}</span>)}</span>,
  },
  {
    head: "Jobs",
    class: "nowrap",
    cell: (run) => (
      <>
        <Meter share={run.jobsOver / Math.max(1, run.jobs)} label={`${run.jobsOver} of ${run.jobs} jobs are over`} /> {run.jobsOver} of {run.jobs}
        {run.jobsBad > 0 ? <span class="state-failed"> · ✗ {run.jobsBad}</span> : null}
      </>
    ),
  },
  { head: "Latest flow", cell: (run) => <FlowLink flow={run.flows[0]?.flow ?? ""} name={run.flows[0]?.name} /> },
  { head: "Began", class: "nowrap", cell: (run) => <Ago ms={run.beganMs} /> },
  { head: "Latest", class: "nowrap", cell: (run) => <Ago ms={run.latestMs} /> },
];

/** All flows of a run: it may have more than were looked at for the list. */
function RunFlows({ id }: { id: string }) {
  const pages = usePages<Schemas["listed"], FlowView>({
    path: "/flows",
    query: { most: 100, labels: [`${RUN_LABEL}=${id}`] },
    rowsOf: (answer) => answer.flows,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => event.type === "flow",
  });
  return <PagedTable label={`Flows of ${id}`} columns={flowColumns} pages={pages} keyOf={(flow) => flow.flow ?? ""} empty="No flows." />;
}

/** How far back the page has looked: flows with the label are asked for newest first. */
function Reach({ pages }: { pages: Paged<FlowView> }) {
  const oldest = pages.rows?.at(-1)?.created_ms;
  if (pages.more === undefined || oldest === undefined) return null;
  return (
    <p class="more faint">
      Flows of runs since {dateText(oldest)} are counted. <button type="button" disabled={pages.loading} onClick={pages.more}>Look further back</button>
    </p>
  );
}

export default function AgentsPage({ place }: PageProps) {
  const open = place.query.get("run") ?? "";
  const text = place.query.get("text") ?? "";
  const field = useQueryField("text", text);
  const pages = usePages<Schemas["listed"], FlowView>({
    path: "/flows",
    query: { most: 500, label: RUN_LABEL },
    rowsOf: (answer) => answer.flows,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => event.type === "flow",
  });
  const runs = groupRuns(pages.rows ?? []).filter((run) => run.id.includes(text));
  const all = (run: AgentRun) => `/flows?label=${encodeURIComponent(`${RUN_LABEL}=${run.id}`)}`;
  return (
    <Page title="Agent runs">
      <div class="filters"><label class="wide">Run<input type="search" {...field} /></label></div>
      {pages.error ? <Problem error={pages.error} retry={pages.reload} /> : null}
      {pages.rows === undefined && !pages.error ? <Loading /> : null}
      {pages.rows !== undefined && runs.length === 0 ? (
        <Empty>No agent runs. Flows with the same label <code>{RUN_LABEL}</code> are shown here as one: <code>reeve submit --label {RUN_LABEL}=NAME FLOW.yaml</code></Empty>
      ) : null}
      {runs.length > 0 ? (
        <Table
          label="Agent runs" columns={runColumns(open)} rows={runs} keyOf={(run) => run.id} current={open || undefined}
          below={(run) => (open === run.id ? (
            <>
              <RunFlows id={run.id} />
              <p><Link href={all(run)}>All flows of this run</Link></p>
            </>
          ) : null)}
        />
      ) : null}
      <Reach pages={pages} />
    </Page>
  );
}
