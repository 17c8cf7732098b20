// The graph view: canvas, mini-map, search, and the card of the job that is pointed at or chosen.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { jobPath, navigate, setQuery } from "../../router";
import { stateInfo } from "../../ui/states";
import { THEME_CHANGED } from "../../ui/theme";
import { centre, firstView, fit, pan, reveal, zoom, type Camera, type Size } from "./camera";
import { JobCard } from "./card";
import { attachGestures } from "./gestures";
import { statesChosen } from "./legend";
import type { Layout } from "./layout";
import type { Lights } from "./lights";
import { criticalPath, type Attempt, type FlowGraph, type JobNow } from "./model";
import { NODE_HEIGHT, NODE_WIDTH, Scene, drawMiniMap, type SceneInput } from "./scene";
import { useLayout, type LaidOut } from "./use-layout";

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

const MINI_MS = 250; // the mini-map follows states this often at most
const FIRST_SCALE = 0.45; // at which names can be read
const NEAR_SCALE = 0.9; // a job that was searched for is shown at least so large
const PAN_PX = 80; // by an arrow with Shift
const ZOOM_STEP = 1.3;
const REST_MS = 120; // a camera that was moved within this is still moving
const LEAVE_MS = 250; // time to get from a node to its card

/** Jobs whose name has the text; undefined: no text. */
function matchesOf(graph: FlowGraph, text: string): ReadonlySet<number> | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return undefined;
  return new Set(graph.nodes.flatMap((node, index) => (node.name.toLowerCase().includes(wanted) ? [index] : [])));
}

/** From a job by an arrow key: to a parent, a child, or its neighbour in the layer. */
export function neighbour(laid: LaidOut, from: number, key: string): number {
  const { graph, layout } = laid;
  if (from < 0) return 0;
  const nearest = (candidates: number[]) =>
    candidates.reduce((best, c) => (best < 0 || Math.abs(layout.y[c]! - layout.y[from]!) < Math.abs(layout.y[best]! - layout.y[from]!) ? c : best), -1);
  if (key === "ArrowLeft") return nearest(graph.nodes[from]!.parents);
  if (key === "ArrowRight") return nearest(graph.nodes[from]!.children);
  const below = key === "ArrowDown";
  const inColumn = graph.nodes.flatMap((_, i) => (i !== from && layout.x[i] === layout.x[from] && layout.y[i]! > layout.y[from]! === below ? [i] : []));
  return nearest(inColumn);
}

export function GraphView(props: GraphProps) {
  const { graph, now, attempts, query } = props;
  const laid = useLayout(graph);
  const canvas = useRef<HTMLCanvasElement>(null);
  const mini = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const scene = useRef<Scene | undefined>(undefined);
  const camera = useRef<Camera>({ x: 0, y: 0, scale: 1 });
  const size = useRef<Size>({ width: 0, height: 0 });
  const following = useRef(true); // nobody has moved the camera: a graph that grows is fitted again
  const pending = useRef(0);
  const miniPlace = useRef({ scale: 1, left: 0, top: 0 });
  const miniTimer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [hovered, setHoveredNow] = useState(-1);
  const leaving = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const setHovered = useCallback((index: number) => {
    clearTimeout(leaving.current);
    if (index >= 0) setHoveredNow(index);
    else leaving.current = setTimeout(() => setHoveredNow(-1), LEAVE_MS);
  }, []);
  const movedMs = useRef(0);
  const card = useRef<HTMLDivElement>(null);

  const selected = graph.byName.get(query.get("job") ?? "") ?? -1;
  const text = query.get("q") ?? "";
  const chosen = statesChosen(query);
  const showPath = query.get("path") === "1";
  const matches = useMemo(() => matchesOf(graph, text), [graph, text]);
  const critical = useMemo(
    () => new Set(showPath ? criticalPath(graph, attempts, props.nowMs) : []),
    [graph, attempts, showPath, showPath ? props.nowMs : 0],
  );

  const dims = matches !== undefined || chosen.size > 0;
  const dimmed = useMemo(
    () => (dims ? (i: number) => matches?.has(i) === false || (chosen.size > 0 && !chosen.has(now[i]!.state)) : undefined),
    [matches, query.get("states"), dims && chosen.size > 0 ? now : undefined],
  );

  const input = useRef<SceneInput | undefined>(undefined);
  if (laid !== undefined && laid.graph === graph) {
    input.current = { graph, layout: laid.layout, now, lights: props.lights, dimmed, critical, selected, hovered };
  }

  const drawMini = useCallback(() => {
    miniTimer.current = undefined;
    if (mini.current !== null && input.current !== undefined) miniPlace.current = drawMiniMap(mini.current, input.current);
  }, []);

  const draw = useCallback(() => {
    if (pending.current !== 0) return;
    pending.current = requestAnimationFrame((timeMs) => {
      pending.current = 0;
      if (input.current === undefined || scene.current === undefined) return;
      const exact = scene.current.draw(input.current, camera.current, size.current, timeMs, timeMs - movedMs.current < REST_MS);
      if (card.current !== null) placeCard(card.current, input.current.layout, camera.current, size.current);
      const box = frame.current;
      if (box !== null) {
        const { scale, left, top } = miniPlace.current;
        const view = camera.current;
        box.style.transform = `translate(${left + view.x * scale}px, ${top + view.y * scale}px)`;
        box.style.width = `${(size.current.width / view.scale) * scale}px`;
        box.style.height = `${(size.current.height / view.scale) * scale}px`;
      }
      if (!exact || input.current.lights.active(timeMs)) draw();
    });
  }, []);

  const moveTo = useCallback((next: Camera, byPerson = true) => {
    if (byPerson) following.current = false;
    camera.current = next;
    movedMs.current = performance.now();
    draw();
  }, []);

  const scaleMin = () => {
    const layout = input.current?.layout;
    return layout === undefined ? 0.01 : Math.min(0.3, fit(layout, size.current).scale * 0.7);
  };
  const fitAll = () => {
    const layout = input.current?.layout;
    if (layout !== undefined) moveTo(fit(layout, size.current), false);
    following.current = true;
  };
  const lookFirst = () => {
    const shown = input.current;
    if (shown !== undefined) moveTo(firstView(shown.layout, size.current, FIRST_SCALE, shown.graph.nodes.length), false);
  };

  const hit = (x: number, y: number): number => {
    const layout = input.current?.layout;
    if (layout === undefined || x < 0) return -1;
    const [worldX, worldY] = [camera.current.x + x / camera.current.scale, camera.current.y + y / camera.current.scale];
    for (let i = layout.x.length - 1; i >= 0; i--) {
      const [dx, dy] = [worldX - layout.x[i]!, worldY - layout.y[i]!];
      if (dx >= 0 && dx <= NODE_WIDTH && dy >= 0 && dy <= NODE_HEIGHT) return i;
    }
    return -1;
  };

  const openJob = (index: number) => navigate(jobPath(`${graph.flow}/${graph.nodes[index]!.name}`));
  const choose = (index: number, show = true) => {
    setQuery({ job: index < 0 ? null : graph.nodes[index]!.name });
    const layout = input.current?.layout;
    if (index < 0 || layout === undefined || !show) return;
    moveTo(reveal(camera.current, { x: layout.x[index]!, y: layout.y[index]!, width: NODE_WIDTH, height: NODE_HEIGHT }, size.current));
  };
  const actions = useRef({ openJob, choose, hit });
  actions.current = { openJob, choose, hit };

  useEffect(() => {
    const element = canvas.current!;
    scene.current = new Scene(element);
    const resized = new ResizeObserver(() => {
      size.current = { width: element.clientWidth, height: element.clientHeight };
      scene.current!.resize(size.current);
      if (following.current) lookFirst();
      draw();
    });
    resized.observe(element);
    const themed = () => {
      scene.current!.themeChanged();
      drawMini();
      draw();
    };
    addEventListener(THEME_CHANGED, themed);
    const detach = attachGestures(element, {
      camera: () => camera.current,
      scaleMin,
      move: moveTo,
      hover: (x, y) => setHovered(actions.current.hit(x, y)),
      tap: (x, y, byTouch) => {
        const index = actions.current.hit(x, y);
        if (index >= 0 && !byTouch) actions.current.openJob(index);
        else actions.current.choose(index, false);
      },
    });
    return () => {
      detach();
      resized.disconnect();
      removeEventListener(THEME_CHANGED, themed);
      cancelAnimationFrame(pending.current);
      clearTimeout(miniTimer.current);
      clearTimeout(leaving.current);
      pending.current = 0;
    };
  }, []);

  useEffect(() => {
    if (laid !== undefined && laid.graph === graph && following.current) lookFirst();
    drawMini();
    draw();
  }, [laid]);
  useEffect(() => {
    draw();
    miniTimer.current ??= setTimeout(drawMini, MINI_MS);
  }, [now]);
  useEffect(draw, [selected, hovered, dimmed, critical]);
  useLayoutEffect(() => {
    if (card.current !== null && input.current !== undefined) placeCard(card.current, input.current.layout, camera.current, size.current);
  });

  const keys = (event: KeyboardEvent) => {
    if (laid === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = { x: size.current.width / 2, y: size.current.height / 2 };
    const steps: Record<string, [number, number]> = { ArrowLeft: [PAN_PX, 0], ArrowRight: [-PAN_PX, 0], ArrowUp: [0, PAN_PX], ArrowDown: [0, -PAN_PX] };
    const pressed = steps[event.key];
    if (pressed !== undefined && event.shiftKey) moveTo(pan(camera.current, ...pressed));
    else if (pressed !== undefined) {
      const next = neighbour(laid, selected, event.key);
      if (next >= 0) choose(next);
    } else if (event.key === "+" || event.key === "=") moveTo(zoom(camera.current, ZOOM_STEP, middle, scaleMin()));
    else if (event.key === "-") moveTo(zoom(camera.current, 1 / ZOOM_STEP, middle, scaleMin()));
    else if (event.key === "0") fitAll();
    else if (event.key === "Enter" && selected >= 0) openJob(selected);
    else if (event.key === " " && selected >= 0 && graph.nodes[selected]!.items > 0) props.onUnfold(graph.nodes[selected]!.name);
    else if (event.key === "Escape") choose(-1);
    else return;
    event.preventDefault();
  };

  const nextMatch = (event: Event) => {
    event.preventDefault();
    const found = [...(matches ?? [])];
    const layout = input.current?.layout;
    if (found.length === 0 || layout === undefined) return;
    const next = found[(found.indexOf(selected) + 1) % found.length]!;
    setQuery({ job: graph.nodes[next]!.name });
    const scale = Math.max(camera.current.scale, NEAR_SCALE);
    moveTo(centre(camera.current, layout.x[next]! + NODE_WIDTH / 2, layout.y[next]! + NODE_HEIGHT / 2, size.current, scale));
  };

  const miniMoved = (event: PointerEvent) => {
    if (event.buttons !== 1 || mini.current === null) return;
    const box = mini.current.getBoundingClientRect();
    const { scale, left, top } = miniPlace.current;
    moveTo(centre(camera.current, (event.clientX - box.left - left) / scale, (event.clientY - box.top - top) / scale, size.current));
  };

  const carded = hovered >= 0 ? hovered : selected;
  const said = selected < 0 ? `${graph.nodes.length} jobs` : `${graph.nodes[selected]!.name}: ${stateInfo(now[selected]?.state).label}`;
  return (
    <section class="graph" aria-label="Graph">
      <div class="graph-tools">
        <form class="graph-search" onSubmit={nextMatch} role="search">
          <input type="search" placeholder="Find a job" aria-label="Find a job" value={text} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
          {matches === undefined ? null : <span class="faint">{matches.size.toLocaleString()} found</span>}
        </form>
        <button type="button" aria-pressed={showPath} onClick={() => setQuery({ path: showPath ? null : "1" })}>Critical path</button>
        <span class="spacer" />
        <button type="button" aria-label="Smaller" onClick={() => moveTo(zoom(camera.current, 1 / ZOOM_STEP, { x: size.current.width / 2, y: size.current.height / 2 }, scaleMin()))}>−</button>
        <button type="button" aria-label="Larger" onClick={() => moveTo(zoom(camera.current, ZOOM_STEP, { x: size.current.width / 2, y: size.current.height / 2 }, scaleMin()))}>+</button>
        <button type="button" onClick={fitAll}>Fit</button>
      </div>
      <div class="graph-stage">
        <canvas
          ref={canvas}
          class="graph-canvas"
          tabIndex={0}
          role="application"
          aria-label="Graph of the jobs. Arrows go from job to job, Enter opens one, plus, minus and 0 zoom, Shift with arrows moves. The List tab has the same as a table."
          data-laid-out={laid === undefined ? undefined : Math.round(laid.tookMs)}
          onKeyDown={keys}
        />
        {laid === undefined ? <p class="graph-wait" role="status">Laying out {graph.nodes.length.toLocaleString()} jobs…</p> : null}
        <div class="minimap" hidden={graph.nodes.length < 30}>
          <canvas ref={mini} aria-hidden="true" onPointerDown={miniMoved} onPointerMove={miniMoved} />
          <div ref={frame} class="minimap-frame" />
        </div>
        {carded >= 0 && laid !== undefined && laid.graph === graph && now[carded] !== undefined ? (
          <div
            class="graph-card card"
            ref={card}
            data-index={carded}
            onPointerEnter={() => setHovered(carded)}
            onPointerLeave={() => setHovered(-1)}
          >
            <JobCard
              graph={graph}
              now={now}
              index={carded}
              attempts={attempts[carded] ?? []}
              live={props.live}
              momentMs={props.momentMs}
              onUnfold={graph.nodes[carded]!.items > 0 ? () => props.onUnfold(graph.nodes[carded]!.name) : undefined}
              unfolded={props.unfolded.has(graph.nodes[carded]!.name)}
              onCascade={cascadeOf(props, carded).length > 0 ? () => replayCascade(props, carded, draw) : undefined}
            />
          </div>
        ) : null}
      </div>
      <p class="visually-hidden" aria-live="polite">{said}</p>
    </section>
  );
}

const CARD_WIDTH = 320;

/** Beside its node: below, or above where there is no room. */
function placeCard(card: HTMLDivElement, layout: Layout, camera: Camera, size: Size): void {
  const index = Number(card.dataset.index);
  const x = (layout.x[index]! - camera.x) * camera.scale;
  const y = (layout.y[index]! - camera.y) * camera.scale;
  const below = y + NODE_HEIGHT * camera.scale + 10;
  const left = Math.max(8, Math.min(x, size.width - Math.min(CARD_WIDTH, size.width - 16) - 8));
  const above = y - 10 - card.offsetHeight;
  const top = below + card.offsetHeight + 8 < size.height || above < 8 ? Math.min(below, size.height - card.offsetHeight - 8) : above;
  card.style.transform = `translate(${left}px, ${Math.max(8, top)}px)`;
}

/** Those that this job dragged down, in the order in which the failure reached them. */
function cascadeOf(props: GraphProps, root: number): number[] {
  const target = `${props.graph.flow}/${props.graph.nodes[root]!.name}`;
  if (!stateInfo(props.now[root]?.state).over || props.now[root]?.state === "succeeded") return [];
  const reached: number[] = [];
  const seen = new Set([root]);
  const queue = [root];
  for (const at of queue)
    for (const child of props.graph.nodes[at]!.children) {
      if (seen.has(child)) continue;
      seen.add(child);
      queue.push(child);
      if (props.now[child]?.cause === "upstream" && (props.now[child].root === target || props.now[child].root === "")) reached.push(child);
    }
  return reached;
}

function replayCascade(props: GraphProps, root: number, draw: () => void): void {
  const time = performance.now();
  props.lights.clear();
  props.lights.flash(root, time);
  const before = (index: number): JobNow => ({ ...props.now[index]!, state: "waiting", cause: "" });
  props.lights.cascade(cascadeOf(props, root).map((index) => ({ index, before: before(index) })), time);
  draw();
}
