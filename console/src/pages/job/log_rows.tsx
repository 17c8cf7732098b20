// The rows of a log that are in sight. The scroll bar stands for all lines; only those in the window are elements, so a
// log of millions of lines costs as much as one of a hundred.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { Link } from "../../router";
import { cssColour, type Colour, type Style } from "./ansi";
import { markSpans, type MarkedSpan, type Match } from "./log_search";
import type { LogMarks } from "./log_marks";
import type { LogText } from "./log_text";
import { NEAR_PX, ROW_PX, scrollTopOf, windowOf } from "./log_window";

const LINES_AS_A_WHOLE = 400;

function colourOf(name: "fg" | "bg", colour: Colour | undefined): { class?: string; value?: string } {
  if (colour === undefined) return {};
  return typeof colour === "number" && colour < 16 ? { class: `${name}-${colour}` } : { value: cssColour(colour) };
}

function looks(style: Style): { class: string; style: Record<string, string> } {
  const fg = colourOf("fg", style.fg);
  const bg = colourOf("bg", style.bg);
  const words = (["bold", "dim", "italic", "underline", "inverse", "strike"] as const).filter((name) => style[name]);
  const css: Record<string, string> = {};
  if (fg.value) css.color = fg.value;
  if (bg.value) css.backgroundColor = bg.value;
  return { class: [...words, fg.class, bg.class].filter(Boolean).join(" "), style: css };
}

function Piece({ span }: { span: MarkedSpan }) {
  const look = looks(span.style);
  if (span.mark) return <mark class={span.current ? "current" : ""}>{span.text}</mark>;
  if (look.class === "" && Object.keys(look.style).length === 0) return <>{span.text}</>;
  return <span class={look.class} style={look.style}>{span.text}</span>;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23" });

/** A number is a link: the line stands in the address. */
function Number_({ line }: { line: number }) {
  const query = new URLSearchParams(location.search);
  query.set("line", String(line + 1));
  return <Link class="log-number" tabIndex={-1} href={`${location.pathname}?${query.toString()}`} data-line={line + 1} aria-label={`Link to line ${line + 1}`}>{""}</Link>;
}

function Row({ of, line }: { of: LogRowsProps; line: number }) {
  const { log, term, current, marks, linked } = of;
  const spans = markSpans(log.spans(line), term, current?.line === line ? current : undefined);
  const mark = marks.at(of.baseBytes + log.startOf(line));
  const isErr = mark?.stream === "err";
  return (
    <div class={`log-row${isErr ? " err" : ""}${line === linked ? " linked" : ""}`} data-stream={mark?.stream}>
      {of.numbered ? <Number_ line={line} /> : null}
      {of.times ? <time class="log-time">{mark === undefined ? "" : clock.format(mark.time_ms)}</time> : null}
      <span class="log-stream" title={isErr ? "standard error" : undefined}>{isErr ? "!" : mark?.stream === "note" ? "·" : ""}</span>
      <span class="log-line">{spans.map((span, at) => <Piece key={at} span={span} />)}</span>
    </div>
  );
}

interface LogRowsProps {
  log: LogText;
  version: number;
  wrap: boolean;
  term: string;
  current: Match | undefined;
  numbered: boolean;
  marks: LogMarks;
  baseBytes: number;
  times: boolean;
  linked: number; // the line that the address names; -1: none
  stick: boolean; // to the end, as it grows
  onStick: (stick: boolean) => void;
}

function Rows({ of, lines }: { of: LogRowsProps; lines: number[] }) {
  return (
    <>
      {lines.map((line) => (
        <Row key={line} of={of} line={line} />
      ))}
    </>
  );
}

const digitsOf = (lines: number) => ({ "--digits": String(lines).length }); // how wide their numbers are

const range = (from: number, count: number) => Array.from({ length: Math.max(0, count) }, (_, at) => from + at);

/** Keeps to the end while the log grows, until someone scrolls up; then again when they are back at the end. */
function useSticking(of: LogRowsProps, box: { current: HTMLDivElement | null }) {
  const lastTop = useRef(0);
  useLayoutEffect(() => {
    if (of.stick && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [of.version, of.stick, of.wrap]);
  return (element: HTMLDivElement) => {
    const top = element.scrollTop;
    const atEnd = top + element.clientHeight >= element.scrollHeight - NEAR_PX;
    if (atEnd !== of.stick && (atEnd || top < lastTop.current)) of.onStick(atEnd);
    lastTop.current = top;
  };
}

/** A short log is there as a whole: it can be selected, and wrapped rows are as high as they are. */
function AllRows(of: LogRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const scrolled = useSticking(of, box);
  useLayoutEffect(() => box.current?.querySelector("mark.current")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [of.current]);
  useLayoutEffect(() => box.current?.querySelector(".log-row.linked")?.scrollIntoView({ block: "center" }), [of.linked, of.linked < of.log.lineCount]);
  return (
    <div class={of.wrap ? "log-box wrap" : "log-box"} ref={box} tabIndex={0} role="region" aria-label="Log"
      onScroll={(event) => scrolled(event.currentTarget)}>
      <div class="log-rows" style={digitsOf(of.log.lineCount)}><Rows of={of} lines={range(0, of.log.lineCount)} /></div>
    </div>
  );
}

function WindowedRows(of: LogRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });
  const lines = of.log.lineCount;
  const seen = windowOf(view.top, lines, view.height);
  const scrolled = useSticking(of, box);
  const firstSeen = useRef(0);
  useLayoutEffect(() => {
    // where the bar stands for more than its height, more lines would move those in sight
    if (!of.stick && box.current !== null) box.current.scrollTop = scrollTopOf(firstSeen.current, lines, view.height);
  }, [lines]);
  useLayoutEffect(() => {
    if (of.current === undefined || box.current === null) return;
    firstSeen.current = Math.max(0, of.current.line - view.height / 2 / ROW_PX);
    box.current.scrollTop = scrollTopOf(firstSeen.current, lines, view.height);
  }, [of.current]);
  useLayoutEffect(() => {
    if (of.linked < 0 || of.linked >= lines || box.current === null) return;
    firstSeen.current = Math.max(0, of.linked - view.height / 2 / ROW_PX);
    box.current.scrollTop = scrollTopOf(firstSeen.current, lines, view.height);
  }, [of.linked, of.linked < lines]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const watcher = new ResizeObserver(measure);
    measure();
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  const moved = (element: HTMLDivElement) => {
    scrolled(element);
    setView({ top: element.scrollTop, height: element.clientHeight });
    const { first, overPx } = windowOf(element.scrollTop, lines, element.clientHeight);
    firstSeen.current = first + overPx / ROW_PX;
  };
  const count = Math.ceil(view.height / ROW_PX) + 2;
  const byEnd = of.wrap && seen.atEnd; // wrapped rows are higher: at the end they are counted from there
  const first = byEnd ? Math.max(0, lines - count) : seen.first;
  const shift = of.wrap ? {} : { transform: `translateY(${-seen.overPx}px)` };
  return (
    <div class={of.wrap ? "log-box windowed wrap" : "log-box windowed"} ref={box} tabIndex={0} role="region" aria-label="Log"
      onScroll={(event) => moved(event.currentTarget)}>
      <div class="log-all" style={{ height: `${seen.heightPx}px` }}>
        <div class={byEnd ? "log-window by-end" : "log-window"} style={{ height: `${view.height}px` }}>
          <div class="log-rows" style={{ ...shift, ...digitsOf(lines) }}><Rows of={of} lines={range(first, Math.min(count, lines - first))} /></div>
        </div>
      </div>
    </div>
  );
}

export function LogRows(of: LogRowsProps) {
  return of.log.lineCount <= LINES_AS_A_WHOLE ? <AllRows {...of} /> : <WindowedRows {...of} />;
}
