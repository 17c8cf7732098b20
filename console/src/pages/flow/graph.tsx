// The graph view: what is to be drawn, tools, keys, and the card of the job that is pointed at or chosen. What is
// chosen, searched for and filtered is in the address.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { jobPath, navigate, setQuery } from "../../router";
import { stateInfo } from "../../ui/states";
import { cameraOf, cameraText, type Camera } from "./camera";
import { JobCard } from "./card";
import { statesChosen } from "./legend";
import type { Lights } from "./lights";
import { criticalPath, workMs, type Attempt, type FlowGraph, type JobNow } from "./model";
import type { SceneInput } from "./scene";
import { Stage } from "./stage";
import { useLayout } from "./use-layout";
import { cascadeOf, matchesOf, neighbour } from "./walk";

export interface GraphProps {
  graph: FlowGraph;
  now: readonly JobNow[];
  attempts: readonly Attempt[][];
  lights: Lights;
  live: boolean;
  momentMs: number | undefined;
  nowMs: number;
  query: URLSearchParams;
  unfolded: ReadonlyMap<string, unknown>;
  onUnfold: (name: string) => void;
}

const LEAVE_MS = 250; // time to get from a node to its card
const PAN_PX = 80; // by an arrow with Shift
const MINI_FROM = 30; // jobs
const ADDRESS_MS = 300; // the address follows the camera when it rests
const HELP =
  "Graph of the jobs. Arrows go from job to job, Enter opens one, plus, minus and 0 zoom, Shift with arrows moves. " +
  "The List tab has the same as a table.";

/** The job that is pointed at; it stays a moment, so that its card can be reached. */
function useHovered(): [number, (index: number) => void] {
  const [hovered, setHovered] = useState(-1);
  const leaving = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const change = useCallback((index: number) => {
    clearTimeout(leaving.current);
    if (index >= 0) setHovered(index);
    else leaving.current = setTimeout(() => setHovered(-1), LEAVE_MS);
  }, []);
  useEffect(() => () => clearTimeout(leaving.current), []);
  return [hovered, change];
}

/** What the legend and the search leave out; the same function as long as they say the same. */
function useDimmed(query: URLSearchParams, now: readonly JobNow[], matches: ReadonlySet<number> | undefined): SceneInput["dimmed"] {
  const chosen = statesChosen(query);
  const byState = chosen.size > 0;
  return useMemo(() => {
    if (matches === undefined && !byState) return undefined;
    return (index) => matches?.has(index) === false || (byState && !chosen.has(now[index]!.state));
  }, [matches, query.get("states"), byState ? now : undefined]);
}

function replayCascade({ graph, now, lights }: GraphProps, root: number): void {
  const time = performance.now();
  const before = (index: number): JobNow => ({ ...now[index]!, state: "waiting", cause: "" });
  lights.clear();
  lights.flash(root, time);
  lights.cascade(
    cascadeOf(graph, now, root).map((index) => ({ index, before: before(index) })),
    time,
  );
}

export function GraphView(props: GraphProps) {
  const { graph, now, attempts, query } = props;
  const laid = useLayout(graph);
  const layout = laid?.graph === graph ? laid.layout : undefined;
  const canvas = useRef<HTMLCanvasElement>(null);
  const mini = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | undefined>(undefined);
  const [hovered, setHovered] = useHovered();

  const selected = graph.byName.get(query.get("job") ?? "") ?? -1;
  const text = query.get("q") ?? "";
  const showPath = query.get("path") === "1";
  const matches = useMemo(() => matchesOf(graph, text), [graph, text]);
  const dimmed = useDimmed(query, now, matches);
  const critical = useMemo(
    () => new Set(showPath ? criticalPath(graph, attempts, props.nowMs) : []),
    [graph, attempts, showPath, showPath ? props.nowMs : 0],
  );

  const tookMs = useCallback((index: number) => workMs(attempts[index] ?? [], 0), [attempts]);
  const openJob = (index: number) => navigate(jobPath(`${graph.flow}/${graph.nodes[index]!.name}`));
  const choose = (index: number) => setQuery({ job: index < 0 ? null : graph.nodes[index]!.name });
  const tapped = useRef((_index: number, _byTouch: boolean) => {});
  tapped.current = (index, byTouch) => {
    if (index >= 0 && !byTouch) openJob(index);
    else choose(index); // a finger cannot point: the card has the link
  };

  useEffect(() => {
    const elements = { canvas: canvas.current!, mini: mini.current!, frame: frame.current! };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const moved = (camera: Camera | undefined) => {
      clearTimeout(timer);
      timer = setTimeout(() => setQuery({ zoom: camera === undefined ? null : cameraText(camera) }), ADDRESS_MS);
    };
    const tap = (index: number, byTouch: boolean) => tapped.current(index, byTouch);
    const made = new Stage(elements, { hover: setHovered, tap, moved }, cameraOf(query.get("zoom")));
    stage.current = made;
    return () => {
      clearTimeout(timer);
      made.close();
    };
  }, []);
  useEffect(() => {
    if (layout !== undefined) stage.current?.show({ graph, layout, now, tookMs, lights: props.lights, dimmed, critical, selected, hovered });
  }, [graph, layout, now, tookMs, props.lights, dimmed, critical, selected, hovered]);
  useLayoutEffect(() => stage.current?.pin(card.current));

  const keys = (event: KeyboardEvent) => {
    const on = stage.current;
    if (layout === undefined || on === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows: Record<string, [number, number]> = {
      ArrowLeft: [PAN_PX, 0],
      ArrowRight: [-PAN_PX, 0],
      ArrowUp: [0, PAN_PX],
      ArrowDown: [0, -PAN_PX],
    };
    const arrow = arrows[event.key];
    if (arrow !== undefined && event.shiftKey) on.panBy(...arrow);
    else if (arrow !== undefined) {
      const next = neighbour(graph, layout, selected, event.key);
      if (next >= 0) choose(next);
      on.reveal(next);
    } else if (event.key === "+" || event.key === "=") on.zoomBy(1);
    else if (event.key === "-") on.zoomBy(-1);
    else if (event.key === "0") on.fitAll();
    else if (event.key === "Enter" && selected >= 0) openJob(selected);
    else if (event.key === " " && selected >= 0 && graph.nodes[selected]!.items > 0) props.onUnfold(graph.nodes[selected]!.name);
    else if (event.key === "Escape") choose(-1);
    else return;
    event.preventDefault();
  };

  const nextMatch = (event: Event) => {
    event.preventDefault();
    const found = [...(matches ?? [])];
    const next = found[(found.indexOf(selected) + 1) % found.length];
    if (next === undefined) return;
    choose(next);
    stage.current?.centreOn(next);
  };

  const miniMoved = (event: PointerEvent) => {
    if (event.buttons !== 1 || mini.current === null) return;
    const box = mini.current.getBoundingClientRect();
    stage.current?.goTo(event.clientX - box.left, event.clientY - box.top);
  };

  const shown = hovered >= 0 ? hovered : selected;
  const node = graph.nodes[shown];
  const replay = () => {
    replayCascade(props, shown);
    stage.current?.draw();
  };
  return (
    <section class="graph" aria-label="Graph">
      <div class="graph-tools">
        <form class="graph-search" onSubmit={nextMatch} role="search">
          <input
            type="search"
            placeholder="Find a job"
            aria-label="Find a job"
            value={text}
            onInput={(event) => setQuery({ q: event.currentTarget.value })}
          />
          {matches === undefined ? null : <span class="faint">{matches.size.toLocaleString()} found</span>}
        </form>
        <button type="button" aria-pressed={showPath} onClick={() => setQuery({ path: showPath ? null : "1" })}>
          Critical path
        </button>
        <span class="spacer" />
        <button type="button" aria-label="Smaller" onClick={() => stage.current?.zoomBy(-1)}>
          −
        </button>
        <button type="button" aria-label="Larger" onClick={() => stage.current?.zoomBy(1)}>
          +
        </button>
        <button type="button" onClick={() => stage.current?.fitAll()}>
          Fit
        </button>
      </div>
      <div class="graph-stage">
        <canvas
          ref={canvas}
          class="graph-canvas"
          tabIndex={0}
          role="application"
          aria-label={HELP}
          data-laid-out={laid === undefined ? undefined : Math.round(laid.tookMs)}
          onKeyDown={keys}
        />
        {laid === undefined ? (
          <p class="graph-wait" role="status">
            Laying out {graph.nodes.length.toLocaleString()} jobs…
          </p>
        ) : null}
        <div class={graph.nodes.length < MINI_FROM ? "minimap unseen" : "minimap"}>
          <canvas ref={mini} aria-hidden="true" onPointerDown={miniMoved} onPointerMove={miniMoved} />
          <div ref={frame} class="minimap-frame" />
        </div>
        {node !== undefined && layout !== undefined && now[shown] !== undefined ? (
          <div
            class="graph-card card"
            ref={card}
            data-index={shown}
            onPointerEnter={() => setHovered(shown)}
            onPointerLeave={() => setHovered(-1)}
          >
            <JobCard
              graph={graph}
              now={now}
              index={shown}
              attempts={attempts[shown] ?? []}
              live={props.live}
              momentMs={props.momentMs}
              onUnfold={node.items > 0 ? () => props.onUnfold(node.name) : undefined}
              unfolded={props.unfolded.has(node.name)}
              onCascade={cascadeOf(graph, now, shown).length > 0 ? replay : undefined}
            />
          </div>
        ) : null}
      </div>
      <p class="visually-hidden" aria-live="polite">
        {selected < 0 ? `${graph.nodes.length} jobs` : `${graph.nodes[selected]!.name}: ${stateInfo(now[selected]?.state).label}`}
      </p>
    </section>
  );
}
