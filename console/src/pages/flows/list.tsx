// All flows, the newest first, in the order of a column, or by name. Filters are in the address; rows come in pages as they
// are scrolled to; what is seen is kept fresh by events.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { PageProps } from "../../app";
import { ApiError, get, type FlowView, type Query, type Schemas } from "../../api/client";
import { useEvents } from "../../api/hooks";
import { textOf, usePages } from "../../api/pages";
import { may } from "../../api/session";
import { Link, flowPath, setQuery } from "../../router";
import { Ago, countText, durationText, Empty, Loading, Page, Person, Problem, StateBadge } from "../../ui/parts";
import { useSelection, type Selection } from "../../ui/table";
import { jobCounts, Progress } from "../flow/progress";
import { VirtualRows } from "../flow/rows";
import { Bulk } from "./bulk";
import { FILTERS, Filters, queryOf } from "./filters";
import { groupFlows, isSortKey, sortFlows, tookMs, type SortKey } from "./group";
import { Groups } from "./groups";
import { Pager } from "./pager";
import "../flow/flow.css";
import "./flows.css";

const PAGE_ROWS = 200;
const AHEAD_ROWS = 100; // are asked for before they are scrolled to
const TOGETHER = 1000;
const ROW_PX = 44;
const REFRESH_MS = 500; // a burst of events is one request

interface FlowRowProps {
  flow: FlowView;
  selection?: Selection | undefined;
}

export function FlowRow({ flow, selection }: FlowRowProps) {
  const took = tookMs(flow);
  const id = flow.flow ?? "";
  return (
    <>
      <span role="cell" class="flow-name">
        {selection ? (
          <input type="checkbox" aria-label={`Select ${id}`} checked={selection.has(id)} onChange={(event) => selection.set([id], event.currentTarget.checked)} />
        ) : null}
        <Link href={flowPath(id)}>{flow.name ?? <span class="mono">{id}</span>}</Link>
        {flow.name ? <span class="mono faint">{id}</span> : null}
        {Object.entries(flow.labels ?? {})
          .slice(0, 2)
          .map(([key, value]) => (
            <span key={key} class="label">
              {key}={value}
            </span>
          ))}
      </span>
      <span role="cell" class="flow-state">
        <StateBadge state={flow.state} />
        {flow.paused ? <span class="faint"> paused</span> : null}
      </span>
      <span role="cell" class="flow-progress">
        <Progress counts={jobCounts(flow)} />
      </span>
      <span role="cell" class="number flow-jobs">
        {(flow.job_count ?? 0).toLocaleString()}
      </span>
      <span role="cell" class="flow-who">
        <Person of={flow.principal} />
      </span>
      <span role="cell" class="flow-when">
        <Ago ms={flow.created_ms} />
      </span>
      <span role="cell" class="flow-took">{took === undefined ? "" : durationText(took)}</span>
    </>
  );
}

/** Rows of the pager, rendered again when they change. */
function usePager(query: Query): Pager<FlowView> | undefined {
  const key = JSON.stringify(query);
  const [, setVersion] = useState(0);
  const [pager, setPager] = useState<{ key: string; pager: Pager<FlowView> }>();
  useEffect(() => {
    const fetchPage = async (cursor: string | undefined) => {
      const got = await get<Schemas["listed"]>("/flows", { ...query, most: PAGE_ROWS, cursor });
      return { rows: got.flows ?? [], cursor: got.cursor as string | undefined };
    };
    const next = new Pager(fetchPage, () => setVersion((version) => version + 1));
    setPager({ key, pager: next });
    return () => next.close();
  }, [key]);
  return pager?.key === key ? pager.pager : undefined;
}

const columns: { key: SortKey | ""; label: string; class: string }[] = [
  { key: "name", label: "Flow", class: "flow-name" },
  { key: "state", label: "State", class: "flow-state" },
  { key: "", label: "Progress", class: "flow-progress" },
  { key: "jobs", label: "Jobs", class: "number flow-jobs" },
  { key: "who", label: "By", class: "flow-who" },
  { key: "", label: "Submitted", class: "flow-when" },
  { key: "took", label: "Took", class: "flow-took" },
];

/** Columns that sort; once more, and the newest are first again. */
function Head({ sort }: { sort: string }) {
  return (
    <div class="rows-head flow-row" role="row">
      {columns.map(({ key, label, class: name }) => (
        <span key={label} role="columnheader" class={name} aria-sort={key !== "" && sort === key ? "ascending" : "none"}>
          {key === "" ? label : (
            <button type="button" class="quiet" onClick={() => setQuery({ sort: sort === key ? null : key })}>{label}{sort === key ? " ↓" : ""}</button>
          )}
        </span>
      ))}
    </div>
  );
}

interface Rows {
  query: Query;
  selection: Selection | undefined;
  onCount: (text: string) => void;
  isFiltered: boolean;
}

const NoFlow = ({ isFiltered }: { isFiltered: boolean }) => (
  <Empty>
    {isFiltered ? "No flow fits these filters." : (
      <>
        No flow yet. Submit one with <code>reeve submit FLOW.yaml</code>, or <Link href="/new">draw one</Link>.
      </>
    )}
  </Empty>
);

/** All flows, as they come. */
function NewestFirst({ query, selection, onCount, isFiltered }: Rows) {
  const pager = usePager(query);
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useRef({ first: 0, end: 0 });
  const [fresh, setFresh] = useState(false); // newer flows wait above
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const stale = useRef({ head: false, rows: false });

  useEffect(() => () => clearTimeout(timer.current), []);
  useEvents((event) => {
    if (pager === undefined || event.type === "metrics" || event.type === "worker" || event.type === "service") return;
    if (event.type === "gap" || event.type === "hello") stale.current.head = true;
    else {
      const id = event.target.split("/")[0]!;
      let shown = false;
      for (let i = seen.current.first; i < seen.current.end && !shown; i++) shown = pager.row(i)?.flow === id;
      if (shown) stale.current.rows = true;
      else if (event.type === "flow") stale.current.head = true;
      else return;
    }
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const { head, rows } = stale.current;
      stale.current = { head: false, rows: false };
      const atTop = (scroller.current?.scrollTop ?? 0) < ROW_PX;
      if (head && atTop) pager.reset();
      else if (rows) pager.refresh(seen.current.first, seen.current.end);
      if (head && !atTop) setFresh(true);
    }, REFRESH_MS);
  });

  // Also after a page that came: with a filter it may have had nothing that fits.
  useEffect(() => pager?.want(seen.current.first, seen.current.end + AHEAD_ROWS));

  const toTop = () => {
    scroller.current?.scrollTo({ top: 0 });
    setFresh(false);
    pager?.reset();
  };
  const row = (index: number) => {
    const flow = pager?.row(index);
    return (
      <div key={index} class="flow-row" role="row" aria-rowindex={index + 1} style={{ height: `${ROW_PX}px` }}>
        {flow === undefined ? (
          <span role="cell" class="faint">
            …
          </span>
        ) : (
          <FlowRow flow={flow} selection={selection} />
        )}
      </div>
    );
  };
  const count = pager === undefined ? 0 : pager.known + (pager.complete ? 0 : 20);
  const says = pager === undefined || !pager.started ? "" : `${pager.known.toLocaleString()}${pager.complete ? "" : "+"} flows`;
  useEffect(() => onCount(says), [says]);
  const error = pager?.error;
  return (
    <>
      {error === undefined ? null : (
        <Problem
          error={error instanceof ApiError ? error : new ApiError(0, "unknown", String(error))}
          retry={() => pager?.reset()}
        />
      )}
      {fresh ? (
        <button type="button" class="fresh primary" onClick={toTop}>
          Newer flows ↑
        </button>
      ) : null}
      {pager === undefined || (!pager.started && error === undefined) ? <Loading /> : null}
      {pager?.started && count === 0 ? <NoFlow isFiltered={isFiltered} /> : null}
      {pager?.started && count > 0 ? (
        <VirtualRows
          key={JSON.stringify(query)}
          count={count}
          rowHeight={ROW_PX}
          label="Flows"
          head={<Head sort="" />}
          row={row}
          scroller={scroller}
          onWindow={(first, end) => {
            seen.current = { first, end };
            pager.want(first, end + AHEAD_ROWS);
          }}
        />
      ) : null}
    </>
  );
}

/** The newest flows that fit, for what needs them together: an order of its own, groups. */
function useNewest(query: Query) {
  const stale = useRef(false);
  return usePages<Schemas["listed"], FlowView>({
    path: "/flows",
    query: { ...query, most: TOGETHER },
    rowsOf: (answer) => answer.flows,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => {
      if (event.type === "flow") stale.current = true;
      const due = event.type === "metrics" && stale.current;
      if (due) stale.current = false;
      return due;
    },
  });
}

function Sorted({ query, selection, onCount, isFiltered, sort }: Rows & { sort: SortKey }) {
  const { rows, error, more, reload } = useNewest(query);
  const sorted = useMemo(() => sortFlows(rows ?? [], sort), [rows, sort]);
  const says = rows === undefined ? "" : more ? `the newest ${rows.length.toLocaleString()}, sorted` : countText(rows.length, "flow");
  useEffect(() => onCount(says), [says]);
  if (rows === undefined) return error ? <Problem error={error} retry={reload} /> : <Loading />;
  if (rows.length === 0) return <NoFlow isFiltered={isFiltered} />;
  const row = (index: number) => (
    <div key={sorted[index]!.flow} class="flow-row" role="row" style={{ height: `${ROW_PX}px` }}>
      <FlowRow flow={sorted[index]!} selection={selection} />
    </div>
  );
  return <VirtualRows count={sorted.length} rowHeight={ROW_PX} label="Flows" head={<Head sort={sort} />} row={row} />;
}

function ByName({ query, onCount, isFiltered }: Rows) {
  const { rows, error, more, reload } = useNewest(query);
  const groups = useMemo(() => groupFlows(rows ?? []), [rows]);
  const says = rows === undefined ? "" : `${countText(groups.length, "name")} ${more ? `of the newest ${rows.length.toLocaleString()} flows` : ""}`;
  useEffect(() => onCount(says), [says]);
  if (rows === undefined) return error ? <Problem error={error} retry={reload} /> : <Loading />;
  return rows.length === 0 ? <NoFlow isFiltered={isFiltered} /> : <Groups groups={groups} />;
}

export function FlowList({ place }: PageProps) {
  const address = place.query.toString();
  const query = useMemo(() => queryOf(place.query), [address]);
  const [count, setCount] = useState("");
  const [picked, selection, clear] = useSelection();
  const sort = place.query.get("sort");
  const isGrouped = place.query.get("group") === "name";
  const rows = {
    query, onCount: setCount, isFiltered: FILTERS.some((name) => place.query.has(name)),
    selection: may("operator", "submitter") ? selection : undefined,
  };
  return (
    <Page
      title="Flows"
      actions={
        <>
          <span class="faint" role="status">
            {count}
          </span>
          <button type="button" aria-pressed={isGrouped} onClick={() => setQuery({ group: isGrouped ? null : "name" })}>
            Group by name
          </button>
          <Link href="/new" class="button">
            New flow
          </Link>
        </>
      }
    >
      <Filters query={place.query} />
      <Bulk flows={[...picked]} onClear={clear} onDone={clear} />
      {isGrouped ? <ByName {...rows} /> : isSortKey(sort) ? <Sorted {...rows} sort={sort} /> : <NewestFirst {...rows} />}
    </Page>
  );
}
