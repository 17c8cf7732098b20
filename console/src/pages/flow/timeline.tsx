// Attempts over time: one row per job or slot of a worker, waiting faint, running in the colour of how it ended. Only rows
// that are seen are drawn.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { jobPath, navigate, setQuery } from "../../router";
import { durationText, Empty } from "../../ui/parts";
import { stateInfo } from "../../ui/states";
import { THEME_CHANGED, colour } from "../../ui/theme";
import { ganttRows, laneRows, tickStep, type Bar, type GanttRow } from "./gantt";
import { statesChosen } from "./legend";
import { criticalPath, workMs, type Attempt, type FlowGraph, type JobNow } from "./model";
import { paletteNow } from "./scene";

const ROW_PX = 26;
const AXIS_PX = 28;
const ZOOM_STEP = 1.4;
const MARK_PX = 7;
const HELP = "Plus, minus and 0 zoom, left and right move. The List tab has the same as a table.";

interface TimelineProps {
  graph: FlowGraph;
  now: readonly JobNow[];
  attempts: readonly Attempt[][];
  createdMs: number;
  endMs: number; // of the flow, or now
  momentMs: number | undefined; // where the time slider stands
  query: URLSearchParams;
}

interface Span {
  fromMs: number;
  toMs: number;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const labelWidth = (width: number) => Math.min(200, Math.max(84, width * 0.2));

function rowText(name: string, attempts: readonly Attempt[], nowMs: number, state: string): string {
  if (attempts.length === 0) return `${name}: ${stateInfo(state).label}, no attempt of its own`;
  return `${name}: ${durationText(workMs(attempts, nowMs))} in ${attempts.length} attempt${attempts.length === 1 ? "" : "s"}`;
}

/** The colour of a bar: how the attempt ended; of one that is under way: running. */
function barState(bar: Bar, state: string, isLast: boolean): string {
  if (bar.attempt === 0) return bar.outcome === "open" ? "running" : bar.outcome;
  if (bar.outcome === "open") return "running";
  if (bar.outcome === "ok" || bar.outcome === "succeeded") return "succeeded";
  return isLast ? state : "failed";
}

function drawTimeline(
  canvas: HTMLCanvasElement,
  props: TimelineProps,
  rows: GanttRow[],
  critical: ReadonlySet<number>,
  span: Span,
  scrollTop: number,
  hovered: number,
): void {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const ratio = devicePixelRatio;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d", { alpha: false })!;
  const palette = paletteNow();
  const left = labelWidth(width);
  const xOf = (ms: number) => left + ((ms - span.fromMs) / Math.max(1, span.toMs - span.fromMs)) * (width - left - 8);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = palette.surface;
  context.fillRect(0, 0, width, height);

  const step = tickStep(span.toMs - span.fromMs, Math.max(2, (width - left) / 90));
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (let ms = Math.ceil((span.fromMs - props.createdMs) / step) * step; props.createdMs + ms <= span.toMs; ms += step) {
    const x = Math.round(xOf(props.createdMs + ms)) + 0.5;
    context.fillStyle = palette.line;
    context.fillRect(x, AXIS_PX - 4, 1, height);
    context.fillStyle = palette.faint;
    const label = ms === 0 ? "0" : durationText(ms);
    context.fillText(label, Math.min(x + 3, width - context.measureText(label).width - 2), AXIS_PX / 2);
  }

  context.save();
  context.beginPath();
  context.rect(0, AXIS_PX, width, height - AXIS_PX);
  context.clip();
  const first = Math.max(0, Math.floor(scrollTop / ROW_PX));
  const end = Math.min(rows.length, Math.ceil((scrollTop + height) / ROW_PX));
  for (let at = first; at < end; at++) {
    const row = rows[at]!;
    const y = AXIS_PX + at * ROW_PX - scrollTop;
    if (at === hovered) {
      context.fillStyle = palette.ground;
      context.fillRect(0, y, width, ROW_PX);
    }
    context.save();
    context.beginPath();
    context.rect(left, y, width - left, ROW_PX);
    context.clip();
    row.bars.forEach((bar, i) => {
      const x = xOf(bar.fromMs);
      const barWidth = Math.max(bar.kind === "run" ? 2 : 0.5, xOf(bar.toMs) - x);
      if (x > width || x + barWidth < left) return;
      const state = props.now[bar.job]?.state ?? "unknown";
      const isLast = row.index >= 0 ? i === row.bars.length - 1 : bar.attempt === (props.attempts[bar.job]?.at(-1)?.attempt ?? 0);
      if (bar.kind === "mark") {
        context.fillStyle = palette.states.get(bar.outcome) ?? palette.faint;
        context.fillRect(Math.min(x, width - MARK_PX - 2), y + (ROW_PX - MARK_PX) / 2, MARK_PX, MARK_PX);
      } else if (bar.kind === "run") {
        context.fillStyle = palette.states.get(barState(bar, state, isLast)) ?? palette.faint;
        context.beginPath();
        context.roundRect(x, y + 5, barWidth, ROW_PX - 10, Math.min(4, barWidth / 2));
        context.fill();
      } else {
        context.fillStyle = bar.kind === "wait" ? palette.line : palette.states.get("dispatched")!;
        context.fillRect(x, y + ROW_PX / 2 - 2, barWidth, 4);
      }
    });
    context.restore();
    if (critical.has(row.index)) {
      context.fillStyle = palette.accent;
      context.fillRect(0, y + 3, 4, ROW_PX - 6);
      context.fillRect(left, y + ROW_PX - 3, width - left, 1.5);
    }
    context.fillStyle = palette.text;
    context.font = "12px ui-monospace, 'DejaVu Sans Mono', monospace";
    const name = row.label;
    const most = Math.floor((left - 18) / 7.3);
    context.fillText(name.length > most ? `${name.slice(0, most - 1)}…` : name, 10, y + ROW_PX / 2);
  }
  context.restore();
  context.fillStyle = palette.line;
  context.fillRect(0, AXIS_PX - 1, width, 1);
  context.fillRect(left - 1, 0, 1, height);
  if (props.momentMs !== undefined) {
    context.fillStyle = colour("focus");
    context.fillRect(xOf(props.momentMs) - 1, 0, 2, height);
  }
}

export function TimelineView(props: TimelineProps) {
  const { graph, attempts, now, createdMs, endMs, query } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ x: number; moved: number } | undefined>(undefined);
  const [zoomed, setZoomed] = useState<Span>();
  const [hovered, setHovered] = useState(-1);
  const [pointed, setPointed] = useState(-1); // the job there
  const text = (query.get("q") ?? "").toLowerCase();
  const chosen = statesChosen(query);
  const showPath = query.get("path") === "1";
  const byWorker = query.get("rows") === "workers";
  const rows = useMemo(() => {
    const fits = (i: number) =>
      (chosen.size === 0 || chosen.has(now[i]?.state ?? "")) && graph.nodes[i]!.name.toLowerCase().includes(text);
    if (byWorker)
      return laneRows(graph, attempts, endMs)
        .map((row) => ({ ...row, bars: row.bars.filter((bar) => fits(bar.job)) }))
        .filter((row) => row.bars.length > 0);
    return ganttRows(graph, now, attempts, createdMs, endMs).filter((row) => fits(row.index));
  }, [graph, attempts, now, endMs, text, byWorker, query.get("states")]);
  const critical = useMemo(
    () => new Set(showPath ? criticalPath(graph, attempts, endMs) : []),
    [graph, attempts, showPath, endMs],
  );
  const whole: Span = { fromMs: createdMs, toMs: Math.max(endMs, createdMs + 10) };
  const span = zoomed ?? whole;

  const paint = useRef(() => {});
  paint.current = () => {
    if (canvas.current !== null)
      drawTimeline(canvas.current, props, rows, critical, span, scroller.current?.scrollTop ?? 0, hovered);
  };
  useEffect(() => paint.current());
  useEffect(() => {
    const again = () => paint.current();
    const observer = new ResizeObserver(again);
    observer.observe(scroller.current!);
    addEventListener(THEME_CHANGED, again);
    return () => {
      observer.disconnect();
      removeEventListener(THEME_CHANGED, again);
    };
  }, []);

  const zoomBy = useCallback(
    (factor: number, at = 0.5) => {
      setZoomed((old) => {
        const from = old ?? whole;
        const width = Math.min(whole.toMs - whole.fromMs, Math.max(5, (from.toMs - from.fromMs) / factor));
        const middle = from.fromMs + (from.toMs - from.fromMs) * at;
        return width >= whole.toMs - whole.fromMs ? undefined : { fromMs: middle - width * at, toMs: middle + width * (1 - at) };
      });
    },
    [whole.fromMs, whole.toMs],
  );
  const panBy = (part: number) =>
    setZoomed(
      (old) => old && { fromMs: old.fromMs + part * (old.toMs - old.fromMs), toMs: old.toMs + part * (old.toMs - old.fromMs) },
    );

  const part = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const left = labelWidth(box.width);
    return Math.max(0, Math.min(1, (event.clientX - box.left - left) / (box.width - left - 8)));
  };
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.shiftKey) return; // it scrolls the rows
    event.preventDefault();
    if (event.ctrlKey) zoomBy(Math.exp(-event.deltaY * 0.004), part(event));
    else panBy((event.deltaX || event.deltaY) / 800);
  };
  const rowAt = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const at = Math.floor((event.clientY - box.top - AXIS_PX + (scroller.current?.scrollTop ?? 0)) / ROW_PX);
    return event.clientY - box.top > AXIS_PX && at < rows.length ? at : -1;
  };
  const moved = (event: PointerEvent) => {
    setHovered(rowAt(event));
    setPointed(jobAt(event));
    if (drag.current === undefined || event.buttons !== 1) return;
    const dx = event.clientX - drag.current.x;
    drag.current = { x: event.clientX, moved: drag.current.moved + Math.abs(dx) };
    panBy(-dx / (canvas.current!.clientWidth - labelWidth(canvas.current!.clientWidth)));
  };
  /** The job of a row, or of the bar of a lane that is pointed at; -1: none. */
  const jobAt = (event: MouseEvent) => {
    const row = rows[rowAt(event)];
    if (row === undefined || row.index >= 0) return row?.index ?? -1;
    const ms = span.fromMs + part(event) * (span.toMs - span.fromMs);
    return row.bars.findLast((bar) => bar.fromMs <= ms)?.job ?? row.bars[0]!.job;
  };
  const clicked = (event: MouseEvent) => {
    const job = jobAt(event);
    if (job >= 0 && (drag.current?.moved ?? 0) < 5) navigate(jobPath(`${graph.flow}/${graph.nodes[job]!.name}`));
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "+" || event.key === "=") zoomBy(ZOOM_STEP);
    else if (event.key === "-") zoomBy(1 / ZOOM_STEP);
    else if (event.key === "0") setZoomed(undefined);
    else if (event.key === "ArrowLeft") panBy(-0.1);
    else if (event.key === "ArrowRight") panBy(0.1);
    else return;
    event.preventDefault();
  };

  const at = hovered >= 0 ? graph.nodes[pointed] : undefined;
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="graph-tools">
        <input
          type="search"
          placeholder="Find a job"
          aria-label="Find a job"
          value={query.get("q") ?? ""}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <button type="button" aria-pressed={showPath} onClick={() => setQuery({ path: showPath ? null : "1" })}>
          Critical path
        </button>
        <button type="button" aria-pressed={byWorker} onClick={() => setQuery({ rows: byWorker ? null : "workers" })}>
          By worker
        </button>
        <span class="faint timeline-says" role="status">
          {at === undefined
            ? `${clock.format(createdMs)} to ${clock.format(endMs)}, ${durationText(endMs - createdMs)}`
            : rowText(at.name, attempts[pointed] ?? [], endMs, now[pointed]?.state ?? "")}
        </span>
        <span class="spacer" />
        <button type="button" aria-label="Smaller" onClick={() => zoomBy(1 / ZOOM_STEP)}>
          −
        </button>
        <button type="button" aria-label="Larger" onClick={() => zoomBy(ZOOM_STEP)}>
          +
        </button>
        <button type="button" onClick={() => setZoomed(undefined)}>
          Fit
        </button>
      </div>
      {rows.length === 0 ? <Empty>{byWorker ? "No attempt yet." : "No job fits."}</Empty> : null}
      <div class="gantt" ref={scroller} onScroll={() => paint.current()}>
        <div class="gantt-all" style={{ height: `${AXIS_PX + rows.length * ROW_PX}px` }}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="img"
            aria-label={`Timeline of ${rows.length} ${byWorker ? "slots" : "jobs"}. ${HELP}`}
            onWheel={wheel}
            onPointerDown={(event) => (drag.current = { x: event.clientX, moved: 0 })}
            onPointerMove={moved}
            onPointerLeave={() => setHovered(-1)}
            onClick={clicked}
            onKeyDown={keys}
          />
        </div>
      </div>
      <p class="timeline-key faint">
        <i class="key-wait" /> waiting <i class="key-send" /> on its way to a worker <i class="key-run" /> running{" "}
        <i class="key-mark" /> ended without running <i class="key-path" /> critical path
      </p>
    </section>
  );
}
