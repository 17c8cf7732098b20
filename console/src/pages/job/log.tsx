// The log of an attempt with its bar: search, wrap, the end, download.
import { useEffect, useMemo, useState } from "preact/hooks";

import { pathOf, urlOf, type AttemptView } from "../../api/client";
import { setQuery, type Place } from "../../router";
import { bytesText, countText, Problem } from "../../ui/parts";
import { Download, useQueryField } from "../../ui/show";
import { LogRows } from "./log_rows";
import { LogSearch, type Match } from "./log_search";
import { useLog, useMarks, type LogState } from "./use_log";

const LINES_AT_ONCE = 20_000; // searched before the page may answer again

interface Found {
  count: number;
  full: boolean;
  at: number; // -1: none
  match: Match | undefined;
  step: (by: number) => void;
}

function useSearch(state: LogState, term: string): Found {
  const [count, setCount] = useState(0);
  const [at, setAt] = useState(-1);
  const search = useMemo(() => new LogSearch(state.log, term), [state.log, term]);
  useEffect(() => setAt(-1), [search]);
  useEffect(() => {
    if (term === "") return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const step = () => {
      const more = search.step(LINES_AT_ONCE, state.over);
      setCount(search.matches.length);
      if (search.matches.length > 0) setAt((last) => (last < 0 ? 0 : last));
      if (more) timer = setTimeout(step);
    };
    step();
    return () => clearTimeout(timer);
  }, [search, state.version, state.over]);
  const step = (by: number) => setAt((last) => (count === 0 ? -1 : (last + by + count) % count));
  const here = term === "" ? 0 : Math.min(count, search.matches.length);
  return { count: here, full: search.full, at, match: here === 0 ? undefined : search.matches[at], step };
}

function SearchField({ value, found }: { value: string; found: Found }) {
  const field = useQueryField("find", value);
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    found.step(event.shiftKey ? -1 : 1);
  };
  return (
    <span class="log-search">
      <input type="search" placeholder="Search the log" aria-label="Search the log" {...field} onKeyDown={pressed} />
      <output class="faint" aria-live="polite">
        {value === "" ? "" : found.count === 0 ? "nothing" : `${found.at + 1} of ${found.count}${found.full ? "+" : ""}`}
      </output>
      <button type="button" class="quiet" aria-label="Previous match" disabled={found.count === 0} onClick={() => found.step(-1)}>↑</button>
      <button type="button" class="quiet" aria-label="Next match" disabled={found.count === 0} onClick={() => found.step(1)}>↓</button>
    </span>
  );
}

function statusOf(state: LogState, attempt: AttemptView): string {
  const parts = [countText(state.log.lineCount, "line"), bytesText(state.skippedBytes + state.log.byteCount)];
  if (attempt.log_cut_bytes) parts.push(`${bytesText(attempt.log_cut_bytes)} beyond its limit were not kept`);
  if (!state.over) parts.push("following");
  return parts.join(" · ");
}

export function Log({ job, attempt, place }: { job: string; attempt: AttemptView; place: Place }) {
  const number = attempt.attempt ?? 1;
  const ended = attempt.ended_ms ? attempt.log_bytes ?? 0 : undefined;
  const state = useLog(job, number, ended, place.query.get("whole") === "1");
  const marks = useMarks(job, number, state.skippedBytes);
  const linked = Number(place.query.get("line") ?? 0) - 1;
  const [stick, setStick] = useState(linked < 0);
  const times = place.query.get("times") === "1";
  const wrap = place.query.get("wrap") !== "0";
  const term = place.query.get("find") ?? "";
  const found = useSearch(state, term);
  useEffect(() => {
    if (found.match !== undefined) setStick(false);
  }, [found.match]);
  useEffect(() => {
    if (linked >= 0) setStick(false);
  }, [linked]);
  const empty = state.log.byteCount === 0;
  return (
    <section class="log" aria-label={`Log of attempt ${number}`}>
      <div class="log-bar">
        <SearchField value={term} found={found} />
        <label class="check"><input type="checkbox" checked={wrap} onChange={(event) => setQuery({ wrap: event.currentTarget.checked ? null : "0" })} />Wrap</label>
        <label class="check"><input type="checkbox" checked={times} onChange={(event) => setQuery({ times: event.currentTarget.checked ? "1" : null })} />Times</label>
        <button type="button" class="small" aria-pressed={stick} onClick={() => setStick(true)}>{stick ? "At the end" : "To the end"}</button>
        <Download class="button small" href={urlOf(`/jobs/${pathOf(job)}/logs`, { attempt: number })} name={`${job.replace("/", "-")}-${number}.log`}>Download</Download>
      </div>
      {state.problem ? <Problem error={state.problem} /> : null}
      {state.skippedBytes > 0 ? (
        <p class="log-skipped">
          The first {bytesText(state.skippedBytes)} are not shown. <button type="button" class="small" onClick={() => setQuery({ whole: "1" })}>Load all</button>
        </p>
      ) : null}
      {empty ? (
        <p class="log-empty">{state.over ? "It wrote nothing." : "Nothing written yet."}</p>
      ) : (
        <LogRows log={state.log} version={state.version} wrap={wrap} term={term} current={found.match} numbered={state.skippedBytes === 0} marks={marks} baseBytes={state.baseBytes}
          times={times} linked={linked} stick={stick} onStick={setStick} />
      )}
      <p class="log-status faint" role="status">{statusOf(state, attempt)}</p>
    </section>
  );
}
