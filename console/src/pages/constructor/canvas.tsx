// The drawing: jobs as cards that can be moved, edges that are drawn from below one to the top of another.
// Everything that the pointer does has a key or a field of the inspector that does the same.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TargetedPointerEvent, TargetedWheelEvent } from "preact";

import { edgesOf, type Draft, type Edge, type Job } from "./draft";
import { NODE_HEIGHT, NODE_WIDTH, boxOf } from "./layout";
import { summaryOf } from "./summary";

export interface Point {
  x: number;
  y: number;
}

interface View extends Point {
  zoom: number;
}

type Gesture =
  | { is: "pan"; start: Point; view: View }
  | { is: "move"; last: Point; moved: boolean; name: string }
  | { is: "connect"; from: string; to: Point; over: string | undefined }
  | { is: "frame"; start: Point; end: Point };

export interface CanvasProps {
  draft: Draft;
  selected: ReadonlySet<string>;
  edge: Edge | undefined; // the one that is selected
  bad: ReadonlySet<string>; // jobs with a problem
  shown: number; // raised when another flow is shown, which is then brought into view
  onSelect: (names: ReadonlySet<string>, edge?: Edge) => void;
  onMove: (dx: number, dy: number, mark: string) => void;
  onConnect: (from: string, to: string) => void;
  onAdd: (at: Point) => void;
}

const ZOOM_MIN = 0.25;
const ZOOM_MAX = 2;
const MARGIN = 32;
const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

function fitted(jobs: Job[], width: number, height: number): View {
  const box = boxOf(jobs);
  const zoom = clamp(Math.min((width - 2 * MARGIN) / box.width, (height - 2 * MARGIN) / box.height), ZOOM_MIN, 1);
  return { zoom, x: (width - box.width * zoom) / 2 - box.x * zoom, y: (height - box.height * zoom) / 2 - box.y * zoom };
}

const curve = (a: Point, b: Point): string => {
  const bend = Math.max(24, Math.abs(b.y - a.y) / 2);
  return `M${a.x},${a.y} C${a.x},${a.y + bend} ${b.x},${b.y - bend} ${b.x},${b.y}`;
};
const outOf = (job: Job): Point => ({ x: job.x + NODE_WIDTH / 2, y: job.y + NODE_HEIGHT });
const into = (job: Job): Point => ({ x: job.x + NODE_WIDTH / 2, y: job.y - 6 });
const jobUnder = (x: number, y: number): string | undefined =>
  document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-job]")?.dataset["job"];

function Edges({ draft, chosen, onSelect }: { draft: Draft; chosen: Edge | undefined; onSelect: (edge: Edge) => void }) {
  const jobs = new Map(draft.jobs.map((job) => [job.name, job]));
  return (
    <>
      {edgesOf(draft).map((edge) => {
        const path = curve(outOf(jobs.get(edge.from)!), into(jobs.get(edge.to)!));
        const is = chosen?.from === edge.from && chosen.to === edge.to;
        return (
          <g key={`${edge.from}\n${edge.to}`} class={is ? "edge chosen" : "edge"} tabIndex={0} role="button" aria-pressed={is}
            aria-label={`${edge.to} needs ${edge.from}`} onFocus={() => onSelect(edge)} onPointerDown={(event) => event.stopPropagation()}>
            <path class="edge-hit" d={path} />
            <path class="edge-line" d={path} marker-end="url(#arrow)" />
          </g>
        );
      })}
    </>
  );
}

interface CardProps {
  job: Job;
  selected: boolean;
  bad: boolean;
  target: boolean;
  onDown: (event: TargetedPointerEvent<HTMLElement>) => void;
  onHandle: (event: TargetedPointerEvent<HTMLElement>) => void;
  onFocus: () => void;
}

function Card({ job, selected, bad, target, onDown, onHandle, onFocus }: CardProps) {
  const summary = summaryOf(job);
  const state = `${selected ? " selected" : ""}${bad ? " bad" : ""}${target ? " target" : ""}`;
  return (
    <div class={`job-card kind-${summary.kind}${state}`} style={{ left: `${job.x}px`, top: `${job.y}px` }} data-job={job.name}
      role="button" tabIndex={0} aria-pressed={selected} aria-label={`Job ${job.name}, ${summary.kind}${bad ? ", has a problem" : ""}`}
      onPointerDown={onDown} onFocus={onFocus}>
      <span class="handle in" aria-hidden="true" />
      <span class="job-name">{job.name}</span>
      <span class="job-work"><b>{summary.kind}</b> <span class="mono">{summary.text}</span></span>
      {summary.marks.length === 0 ? null : <span class="job-marks">{summary.marks.map((mark) => <i key={mark}>{mark}</i>)}</span>}
      <span class="handle out" aria-hidden="true" title="Drag to the job that comes after" onPointerDown={onHandle} />
    </div>
  );
}

export function Canvas(props: CanvasProps) {
  const { draft, selected, onSelect } = props;
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ x: 0, y: 0, zoom: 1 });
  const [gesture, setGesture] = useState<Gesture>();
  const strokes = useRef(0);

  const fit = () => {
    const area = ref.current;
    if (area !== null) setView(fitted(draft.jobs, area.clientWidth, area.clientHeight));
  };
  useLayoutEffect(fit, [props.shown]);
  useEffect(() => {
    const watcher = new ResizeObserver(fit);
    watcher.observe(ref.current!);
    return () => watcher.disconnect();
  }, [props.shown]);

  const place = (event: { clientX: number; clientY: number }): Point => {
    const area = ref.current!.getBoundingClientRect();
    return { x: (event.clientX - area.left - view.x) / view.zoom, y: (event.clientY - area.top - view.y) / view.zoom };
  };

  const zoomAt = (factor: number, at: Point) => {
    const zoom = clamp(view.zoom * factor, ZOOM_MIN, ZOOM_MAX);
    const ratio = zoom / view.zoom;
    setView({ zoom, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio });
  };
  const wheel = (event: TargetedWheelEvent<HTMLDivElement>) => {
    event.preventDefault();
    const area = event.currentTarget.getBoundingClientRect();
    zoomAt(Math.exp(-event.deltaY / 400), { x: event.clientX - area.left, y: event.clientY - area.top });
  };

  const grab = (event: TargetedPointerEvent<HTMLElement>, next: Gesture) => {
    if (event.button !== 0) return;
    event.stopPropagation();
    ref.current?.setPointerCapture(event.pointerId);
    strokes.current++;
    setGesture(next);
  };
  const downOnJob = (event: TargetedPointerEvent<HTMLElement>, name: string) => {
    if (event.shiftKey || event.ctrlKey || event.metaKey) {
      const next = new Set(selected);
      if (!next.delete(name)) next.add(name);
      onSelect(next);
    } else if (!selected.has(name)) onSelect(new Set([name]));
    event.currentTarget.focus({ preventScroll: true });
    grab(event, { is: "move", last: place(event), moved: false, name });
    event.preventDefault(); // a drag selects no text
  };

  const move = (event: TargetedPointerEvent<HTMLDivElement>) => {
    if (gesture === undefined) return;
    const at = place(event);
    if (gesture.is === "pan")
      setView({ ...gesture.view, x: gesture.view.x + event.clientX - gesture.start.x, y: gesture.view.y + event.clientY - gesture.start.y });
    else if (gesture.is === "connect") setGesture({ ...gesture, to: at, over: jobUnder(event.clientX, event.clientY) });
    else if (gesture.is === "frame") setGesture({ ...gesture, end: at });
    else {
      const dx = Math.round(at.x - gesture.last.x);
      const dy = Math.round(at.y - gesture.last.y);
      if (dx === 0 && dy === 0) return;
      props.onMove(dx, dy, `drag ${strokes.current}`);
      setGesture({ ...gesture, last: { x: gesture.last.x + dx, y: gesture.last.y + dy }, moved: true });
    }
  };

  const up = (event: TargetedPointerEvent<HTMLDivElement>) => {
    if (gesture?.is === "connect") {
      const over = jobUnder(event.clientX, event.clientY);
      if (over !== undefined) props.onConnect(gesture.from, over);
    } else if (gesture?.is === "frame") onSelect(jobsIn(draft, gesture.start, gesture.end));
    setGesture(undefined);
  };

  const jobs = new Map(draft.jobs.map((job) => [job.name, job]));
  const source = gesture?.is === "connect" ? jobs.get(gesture.from) : undefined;
  return (
    <div class="canvas" ref={ref} role="group" aria-label="Drawing of the flow" onWheel={wheel} onPointerMove={move} onPointerUp={up}
      onPointerCancel={() => setGesture(undefined)} onDblClick={(event) => event.target === event.currentTarget && props.onAdd(place(event))}
      onPointerDown={(event) => {
        if (event.target !== event.currentTarget) return;
        onSelect(new Set());
        const start = { x: event.clientX, y: event.clientY };
        grab(event, event.shiftKey ? { is: "frame", start: place(event), end: place(event) } : { is: "pan", start, view });
      }}
      style={{ backgroundPosition: `${view.x}px ${view.y}px`, backgroundSize: `${20 * view.zoom}px ${20 * view.zoom}px` }}>
      <div class="canvas-inner" style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.zoom})` }}>
        <svg class="edges" width="1" height="1">
          <defs>
            <marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
              <path d="M0,0 L10,5 L0,10 z" />
            </marker>
          </defs>
          <Edges draft={draft} chosen={props.edge} onSelect={(edge) => onSelect(new Set(), edge)} />
        </svg>
        {draft.jobs.map((job) => (
          <Card key={job.name} job={job} selected={selected.has(job.name)} bad={props.bad.has(job.name)}
            target={gesture?.is === "connect" && gesture.over === job.name && gesture.from !== job.name}
            onDown={(event) => downOnJob(event, job.name)}
            onHandle={(event) => grab(event, { is: "connect", from: job.name, to: place(event), over: undefined })}
            onFocus={() => selected.has(job.name) || onSelect(new Set([job.name]))} />
        ))}
        {source !== undefined && gesture?.is === "connect" ? (
          <svg class="edges drawn" width="1" height="1"><path class="edge-line new" d={curve(outOf(source), gesture.to)} /></svg>
        ) : null}
        {gesture?.is === "frame" ? <Frame a={gesture.start} b={gesture.end} /> : null}
      </div>
      <div class="canvas-tools">
        <button type="button" aria-label="Zoom out" onClick={() => zoomAt(1 / 1.25, centre(ref.current!))}>−</button>
        <span aria-label="Zoom">{Math.round(view.zoom * 100)} %</span>
        <button type="button" aria-label="Zoom in" onClick={() => zoomAt(1.25, centre(ref.current!))}>+</button>
        <button type="button" onClick={fit}>Fit</button>
      </div>
    </div>
  );
}

const centre = (area: HTMLElement): Point => ({ x: area.clientWidth / 2, y: area.clientHeight / 2 });

function jobsIn(draft: Draft, a: Point, b: Point): Set<string> {
  const [left, right] = a.x < b.x ? [a.x, b.x] : [b.x, a.x];
  const [top, bottom] = a.y < b.y ? [a.y, b.y] : [b.y, a.y];
  const hit = draft.jobs.filter((job) => job.x < right && job.x + NODE_WIDTH > left && job.y < bottom && job.y + NODE_HEIGHT > top);
  return new Set(hit.map((job) => job.name));
}

const Frame = ({ a, b }: { a: Point; b: Point }) => (
  <div class="selection-frame" style={{ left: `${Math.min(a.x, b.x)}px`, top: `${Math.min(a.y, b.y)}px`, width: `${Math.abs(a.x - b.x)}px`, height: `${Math.abs(a.y - b.y)}px` }} />
);
