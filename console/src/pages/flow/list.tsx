// The jobs of a flow as a table: the same as the graph for who would rather read or cannot see it.
import { useMemo } from "preact/hooks";

import { Link, jobPath, setQuery } from "../../router";
import { durationText, Empty, StateBadge } from "../../ui/parts";
import { jobStates, stateInfo } from "../../ui/states";
import { statesChosen } from "./legend";
import { workMs, type Attempt, type FlowGraph, type JobNow } from "./model";
import { VirtualRows } from "./rows";

const ROW_PX = 40;
const orderOfStates = new Map(jobStates.map((state, index) => [state.name, index]));

interface ListProps {
  graph: FlowGraph;
  now: readonly JobNow[];
  attempts: readonly Attempt[][];
  nowMs: number;
  query: URLSearchParams;
}

const columns = [
  { key: "name", label: "Job" },
  { key: "state", label: "State" },
  { key: "attempt", label: "Attempt" },
  { key: "work", label: "Work" },
  { key: "worker", label: "Worker" },
  { key: "needs", label: "Needs" },
] as const;

function sorted(props: ListProps, indices: number[], by: string): number[] {
  const { graph, now, attempts, nowMs } = props;
  const work = (i: number) => workMs(attempts[i] ?? [], nowMs);
  const orders: Record<string, (a: number, b: number) => number> = {
    name: (a, b) => graph.nodes[a]!.name.localeCompare(graph.nodes[b]!.name, undefined, { numeric: true }),
    state: (a, b) => (orderOfStates.get(now[a]!.state) ?? 0) - (orderOfStates.get(now[b]!.state) ?? 0),
    attempt: (a, b) => now[b]!.attempt - now[a]!.attempt,
    work: (a, b) => work(b) - work(a),
    worker: (a, b) => now[a]!.worker.localeCompare(now[b]!.worker),
    needs: (a, b) => graph.nodes[b]!.parents.length - graph.nodes[a]!.parents.length,
  };
  const order = orders[by];
  return order === undefined ? indices : indices.sort((a, b) => order(a, b) || a - b);
}

export function ListView(props: ListProps) {
  const { graph, now, attempts, nowMs, query } = props;
  const [text, by, chosen] = [(query.get("q") ?? "").toLowerCase(), query.get("sort") ?? "", statesChosen(query)];
  const shown = useMemo(() => {
    const fits = (i: number) =>
      (chosen.size === 0 || chosen.has(now[i]?.state ?? "")) && graph.nodes[i]!.name.toLowerCase().includes(text);
    return sorted(
      props,
      [...graph.nodes.keys()].filter((i) => now[i] !== undefined && fits(i)),
      by,
    );
  }, [graph, now, text, by, query.get("states"), by === "work" ? nowMs : 0]);
  const head = (
    <div class="rows-head job-row" role="row">
      {columns.map((column) => (
        <span key={column.key} role="columnheader" aria-sort={by === column.key ? "ascending" : "none"}>
          <button type="button" class="quiet" onClick={() => setQuery({ sort: by === column.key ? null : column.key })}>
            {column.label}
            {by === column.key ? " ↓" : ""}
          </button>
        </span>
      ))}
    </div>
  );
  const row = (at: number) => {
    const index = shown[at]!;
    const [node, job] = [graph.nodes[index]!, now[index]!];
    const work = workMs(attempts[index] ?? [], nowMs);
    const needs = node.parents.filter((parent) => !stateInfo(now[parent]?.state).over).length;
    return (
      <div key={node.name} class="job-row" role="row" style={{ height: `${ROW_PX}px` }}>
        <span role="cell">
          <Link href={jobPath(`${graph.flow}/${node.name}`)} class="mono" title={node.name}>
            {node.name}
          </Link>
        </span>
        <span role="cell">
          <StateBadge state={job.state} cause={job.cause} />
        </span>
        <span role="cell">
          {job.items !== undefined
            ? `${node.items.toLocaleString()} items`
            : job.attempt === 0
              ? "–"
              : `${job.attempt} of ${node.attemptsMax}`}
        </span>
        <span role="cell">{(attempts[index]?.length ?? 0) > 0 ? durationText(work) : "–"}</span>
        <span role="cell" class="mono">
          {job.worker || "–"}
        </span>
        <span role="cell">
          {node.parents.length === 0
            ? "–"
            : needs > 0
              ? `${needs} of ${node.parents.length} open`
              : `${node.parents.length} done`}
        </span>
      </div>
    );
  };
  return (
    <section class="flow-list" aria-label="Jobs">
      <div class="graph-tools">
        <input
          type="search"
          placeholder="Find a job"
          aria-label="Find a job"
          value={query.get("q") ?? ""}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <span class="faint" role="status">
          {shown.length.toLocaleString()} of {graph.nodes.length.toLocaleString()} jobs
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty>
          No job fits.{" "}
          <button type="button" class="quiet" onClick={() => setQuery({ q: null, states: null })}>
            Show all
          </button>
        </Empty>
      ) : null}
      <VirtualRows count={shown.length} rowHeight={ROW_PX} label="Jobs" head={head} row={row} />
    </section>
  );
}
