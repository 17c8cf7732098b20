// All flows, the newest first. Filters are in the address; rows come in pages as they are scrolled to; what is seen is
// kept fresh by events.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { PageProps } from "../../app";
import { ApiError, get, type FlowView, type Query, type Schemas } from "../../api/client";
import { useEvents } from "../../api/hooks";
import { Link, flowPath, setQuery } from "../../router";
import { Ago, durationText, Empty, Loading, Page, Problem, serverNow, StateBadge } from "../../ui/parts";
import { Progress } from "../flow/progress";
import { VirtualRows } from "../flow/rows";
import { Pager } from "./pager";
import "../flow/flow.css";
import "./flows.css";

const PAGE_ROWS = 200;
const AHEAD_ROWS = 100; // are asked for before they are scrolled to
const ROW_PX = 44;
const REFRESH_MS = 500; // a burst of events is one request
const states = ["running", "succeeded", "failed", "cancelled"];
const HOUR_MS = 3_600_000;
const spans = [
  { label: "Any time", ms: 0 },
  { label: "Last hour", ms: HOUR_MS },
  { label: "Last day", ms: 24 * HOUR_MS },
  { label: "Last week", ms: 7 * 24 * HOUR_MS },
];

/** What the address asks for, as the server understands it. */
export function queryOf(place: URLSearchParams): Query {
  return {
    text: place.get("q") ?? undefined,
    states: (place.get("states") ?? "").split(",").filter((word) => word !== ""),
    labels: place.getAll("label"),
    since_ms: place.get("since") ?? undefined,
    until_ms: place.get("until") ?? undefined,
  };
}

/** A time for an input of the kind datetime-local, in the viewer's zone. */
function localTime(ms: string | null): string {
  if (ms === null) return "";
  const date = new Date(Number(ms));
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function Filters({ query }: { query: URLSearchParams }) {
  const chosen = new Set((query.get("states") ?? "").split(",").filter((word) => word !== ""));
  const [label, setLabel] = useState(query.get("label") ?? "");
  useEffect(() => setLabel(query.get("label") ?? ""), [query.get("label")]);
  const toggle = (state: string) => {
    if (!chosen.delete(state)) chosen.add(state);
    setQuery({ states: [...chosen].join(",") });
  };
  const timed = (name: string) => (event: { currentTarget: HTMLInputElement }) =>
    setQuery({ [name]: event.currentTarget.value === "" ? null : String(new Date(event.currentTarget.value).getTime()) });
  const some = ["q", "states", "label", "since", "until"].some((name) => query.has(name));
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        aria-label="Search"
        placeholder="Words in names, labels, errors"
        value={query.get("q") ?? ""}
        onChange={(event) => setQuery({ q: event.currentTarget.value })}
      />
      <div class="chips" role="group" aria-label="States">
        {states.map((state) => (
          <button
            key={state}
            type="button"
            class={`legend-state state-${state}`}
            aria-pressed={chosen.has(state)}
            onClick={() => toggle(state)}
          >
            {state}
          </button>
        ))}
      </div>
      <input
        class="filter-label"
        aria-label="Label"
        placeholder="label=value"
        value={label}
        onInput={(event) => setLabel(event.currentTarget.value)}
        onChange={() => (label === "" || label.includes("=")) && setQuery({ label })}
      />
      <select
        aria-label="Time"
        value=""
        onChange={(event) =>
          setQuery({
            since: event.currentTarget.value === "0" ? null : String(Math.round(serverNow()) - Number(event.currentTarget.value)),
            until: null,
          })
        }
      >
        <option value="" hidden>
          {query.has("since") || query.has("until") ? "Chosen time" : "Any time"}
        </option>
        {spans.map((span) => (
          <option key={span.ms} value={String(span.ms)}>
            {span.label}
          </option>
        ))}
      </select>
      <details class="filter-dates">
        <summary>From, to</summary>
        <div class="row">
          <label>
            From <input type="datetime-local" value={localTime(query.get("since"))} onChange={timed("since")} />
          </label>
          <label>
            To <input type="datetime-local" value={localTime(query.get("until"))} onChange={timed("until")} />
          </label>
        </div>
      </details>
      {some ? (
        <button
          type="button"
          class="quiet"
          onClick={() => setQuery({ q: null, states: null, label: null, since: null, until: null })}
        >
          Clear
        </button>
      ) : null}
    </form>
  );
}

export function FlowRow({ flow }: { flow: FlowView }) {
  const took = flow.finished_ms ? durationText(flow.finished_ms - (flow.created_ms ?? 0)) : "";
  return (
    <>
      <span role="cell" class="flow-name">
        <Link href={flowPath(flow.flow ?? "")}>{flow.name ?? <span class="mono">{flow.flow}</span>}</Link>
        {flow.name ? <span class="mono faint">{flow.flow}</span> : null}
        {Object.entries(flow.labels ?? {})
          .slice(0, 2)
          .map(([key, value]) => (
            <span key={key} class="label">
              {key}={value}
            </span>
          ))}
      </span>
      <span role="cell">
        <StateBadge state={flow.state} />
        {flow.paused ? <span class="faint"> paused</span> : null}
      </span>
      <span role="cell" class="flow-progress">
        <Progress counts={new Map(Object.entries(flow.states ?? {}))} />
      </span>
      <span role="cell" class="number">
        {(flow.job_count ?? 0).toLocaleString()}
      </span>
      <span role="cell">
        <Ago ms={flow.created_ms} />
      </span>
      <span role="cell">{took}</span>
    </>
  );
}

/** Rows of the pager, rendered again when they change. */
function usePages(query: Query): Pager<FlowView> | undefined {
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

export function FlowList({ place }: PageProps) {
  const query = useMemo(() => queryOf(place.query), [place.query.toString()]);
  const pager = usePages(query);
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
  const head = (
    <div class="rows-head flow-row" role="row">
      {["Flow", "State", "Progress", "Jobs", "Submitted", "Took"].map((label) => (
        <span key={label} role="columnheader" class={label === "Jobs" ? "number" : undefined}>
          {label}
        </span>
      ))}
    </div>
  );
  const row = (index: number) => {
    const flow = pager?.row(index);
    return (
      <div key={index} class="flow-row" role="row" aria-rowindex={index + 1} style={{ height: `${ROW_PX}px` }}>
        {flow === undefined ? (
          <span role="cell" class="faint">
            …
          </span>
        ) : (
          <FlowRow flow={flow} />
        )}
      </div>
    );
  };
  const count = pager === undefined ? 0 : pager.known + (pager.complete ? 0 : 20);
  const says = pager === undefined || !pager.started ? "" : `${pager.known.toLocaleString()}${pager.complete ? "" : "+"} flows`;
  const error = pager?.error;
  return (
    <Page
      title="Flows"
      actions={
        <>
          <span class="faint" role="status">
            {says}
          </span>
          <Link href="/new" class="button">
            New flow
          </Link>
        </>
      }
    >
      <Filters query={place.query} />
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
      {pager?.started && count === 0 ? (
        <Empty>
          {place.query.toString() === "" ? (
            <>
              No flow yet. Submit one with <code>reeve submit FLOW.yaml</code>, or <Link href="/new">draw one</Link>.
            </>
          ) : (
            "No flow fits these filters."
          )}
        </Empty>
      ) : null}
      {pager?.started && count > 0 ? (
        <VirtualRows
          key={JSON.stringify(query)}
          count={count}
          rowHeight={ROW_PX}
          label="Flows"
          head={head}
          row={row}
          scroller={scroller}
          onWindow={(first, end) => {
            seen.current = { first, end };
            pager.want(first, end + AHEAD_ROWS);
          }}
        />
      ) : null}
    </Page>
  );
}
