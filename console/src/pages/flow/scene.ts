// Draws the graph on a canvas: only what is seen, in as much detail as it is large. From afar a job is a block of
// colour; nearer it has a name; near it has its sign, attempts and items too.
import { colour } from "../../ui/theme";
import { durationText } from "../../ui/parts";
import { jobStates, stateInfo } from "../../ui/states";
import type { Camera, Size } from "./camera";
import type { Layout } from "./layout";
import type { Lights } from "./lights";
import type { FlowGraph, ItemCounts, JobNow } from "./model";

export const NODE_WIDTH = 184;
export const NODE_HEIGHT = 42;

const NAME_SCALE = 0.36; // names from here on
const FULL_SCALE = 0.6; // the second line from here on
const CURVE_SCALE = 0.14; // edges are curves from here on
const RADIUS = 8;

// Of a large graph thousands of jobs and edges, or hundreds of names, are seen at once: too many to draw in each frame of
// a move. They are drawn into a picture somewhat larger than the screen, which moves and scales with the camera, and anew
// when the camera rests.
const PICTURE_NODES = 1200; // a graph with fewer is always drawn directly
const PICTURE_MARGIN = 0.35; // of the screen, on each side
const ROUGH_EDGES = 4000; // of all are drawn from afar while the camera moves: they are a texture there, and dear
const PICTURE_MS = 200; // while the camera moves or states change: anew no more often than this

export interface SceneInput {
  graph: FlowGraph;
  layout: Layout;
  now: readonly JobNow[];
  tookMs: (index: number) => number; // how long its attempts took; 0: nothing to tell
  lights: Lights;
  /** Jobs that are dimmed, by the legend or the search; undefined: none is. Another function means another choice. */
  dimmed: ((index: number) => boolean) | undefined;
  critical: ReadonlySet<number>; // jobs of the critical path
  selected: number;
  hovered: number;
}

interface Palette {
  ground: string;
  surface: string;
  line: string;
  edge: string;
  text: string;
  faint: string;
  accent: string;
  focus: string;
  states: Map<string, string>;
}

export function paletteNow(): Palette {
  const states = new Map([...jobStates.map((state) => state.name), "unknown"].map((name) => [name, colour(`state-${name}`)]));
  const [ground, surface, line, text, faint] = ["ground", "surface", "line", "text", "faint"].map(colour) as [
    string,
    string,
    string,
    string,
    string,
  ];
  return { ground, surface, line, edge: colour("edge"), text, faint, accent: colour("warn"), focus: colour("focus"), states };
}

/** An edge as lines or curves from the right side of one job to the left side of another. */
function tracePath(context: CanvasRenderingContext2D, input: SceneInput, edge: number, curved: boolean): void {
  const { layout, graph } = input;
  const [parent, child] = [graph.edges[2 * edge]!, graph.edges[2 * edge + 1]!];
  let x = layout.exitX[parent]!;
  let y = layout.y[parent]! + NODE_HEIGHT / 2;
  context.moveTo(x, y);
  const to = (nextX: number, nextY: number) => {
    const bend = (nextX - x) / 2;
    if (curved && nextY !== y) context.bezierCurveTo(x + bend, y, nextX - bend, nextY, nextX, nextY);
    else context.lineTo(nextX, nextY);
    x = nextX;
    y = nextY;
  };
  for (let p = layout.pointStart[edge]!; p < layout.pointStart[edge + 1]!; p++)
    to(layout.points[2 * p]!, layout.points[2 * p + 1]!);
  to(layout.entryX[child]!, layout.y[child]! + NODE_HEIGHT / 2);
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A part of the world as it was drawn once, and what it was drawn from. */
interface Picture extends Pick<SceneInput, "layout" | "now" | "dimmed" | "critical"> {
  canvas: HTMLCanvasElement;
  box: Box;
  scale: number;
  ratio: number;
  rough: boolean; // of a view that moved: not all edges
  madeMs: number;
}

const boxOf = (camera: Camera, size: Size): Box => ({
  left: camera.x,
  top: camera.y,
  right: camera.x + size.width / camera.scale,
  bottom: camera.y + size.height / camera.scale,
});

const isInside = (inner: Box, outer: Box) =>
  inner.left >= outer.left && inner.top >= outer.top && inner.right <= outer.right && inner.bottom <= outer.bottom;

function clear(context: CanvasRenderingContext2D, ground: string): void {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = ground;
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
}

function setCamera(context: CanvasRenderingContext2D, camera: Camera, ratio: number): void {
  const scale = camera.scale * ratio;
  context.setTransform(scale, 0, 0, scale, -camera.x * scale, -camera.y * scale);
}

export class Scene {
  private readonly context: CanvasRenderingContext2D;
  private palette = paletteNow();
  private labels = new Map<string, string>(); // names cut to fit
  private edgeTop = new Float32Array(0); // of each edge, with its points
  private edgeBottom = new Float32Array(0);
  private measured: Layout | undefined;
  private picture: Picture | undefined;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d", { alpha: false })!;
  }

  themeChanged(): void {
    this.palette = paletteNow();
    this.picture = undefined;
  }

  resize(size: Size): void {
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
  }

  /** False: this was a rough picture of a moving view, and it wants to be drawn again when the camera rests. */
  draw(input: SceneInput, camera: Camera, size: Size, timeMs: number, moving: boolean): boolean {
    const context = this.context;
    if (this.measured !== input.layout) this.measureEdges(input);
    const ratio = this.canvas.width / Math.max(1, size.width);
    let exact = true;
    if (input.graph.nodes.length > PICTURE_NODES) {
      exact = this.drawPicture(input, camera, size, ratio, timeMs, moving);
      setCamera(context, camera, ratio);
    } else {
      clear(context, this.palette.ground);
      setCamera(context, camera, ratio);
      this.drawDetails(context, input, camera.scale, boxOf(camera, size), timeMs);
    }
    this.drawMarks(input, camera.scale, timeMs);
    return exact;
  }

  private drawDetails(
    context: CanvasRenderingContext2D,
    input: SceneInput,
    scale: number,
    seen: Box,
    timeMs: number,
    rough = false,
  ): void {
    this.drawEdges(context, input, scale, seen, rough);
    const visible: number[] = [];
    for (let i = 0; i < input.graph.nodes.length; i++) {
      const [x, y] = [input.layout.x[i]!, input.layout.y[i]!];
      if (x < seen.right && x + NODE_WIDTH > seen.left && y < seen.bottom && y + NODE_HEIGHT > seen.top) visible.push(i);
    }
    if (scale < NAME_SCALE) this.drawBlocks(context, input, visible, timeMs);
    else for (const index of visible) this.drawNode(context, input, index, scale, timeMs);
  }

  // ---- the picture of a large graph ----

  private drawPicture(input: SceneInput, camera: Camera, size: Size, ratio: number, timeMs: number, moving: boolean): boolean {
    const old = this.picture;
    const fits =
      old !== undefined &&
      old.layout === input.layout &&
      old.dimmed === input.dimmed &&
      old.critical === input.critical &&
      old.ratio === ratio;
    const fresh = fits && old.now === input.now && !input.lights.active(timeMs);
    const covers = fits && isInside(boxOf(camera, size), old.box);
    const exact = fresh && covers && old.scale === camera.scale && !old.rough;
    const mayWait = fits && (moving || (old.scale === camera.scale && !old.rough)) && timeMs - old.madeMs < PICTURE_MS;
    const roughIsEnough = moving && fresh && covers && camera.scale / old!.scale < 2 && camera.scale / old!.scale > 0.4;
    if (!exact && !mayWait && !roughIsEnough) this.picture = this.makePicture(input, camera, size, ratio, timeMs, moving);
    const picture = this.picture!;
    const context = this.context;
    clear(context, this.palette.ground);
    const zoom = camera.scale / picture.scale;
    context.imageSmoothingEnabled = zoom !== 1;
    context.drawImage(
      picture.canvas,
      Math.round((picture.box.left - camera.x) * camera.scale * ratio),
      Math.round((picture.box.top - camera.y) * camera.scale * ratio),
      picture.canvas.width * zoom,
      picture.canvas.height * zoom,
    );
    return !this.picture!.rough && (exact || this.picture !== old);
  }

  private makePicture(input: SceneInput, camera: Camera, size: Size, ratio: number, timeMs: number, rough: boolean): Picture {
    const margin = { x: (size.width * PICTURE_MARGIN) / camera.scale, y: (size.height * PICTURE_MARGIN) / camera.scale };
    const seen = boxOf(camera, size);
    const box = {
      left: seen.left - margin.x,
      top: seen.top - margin.y,
      right: seen.right + margin.x,
      bottom: seen.bottom + margin.y,
    };
    const canvas = this.picture?.canvas ?? document.createElement("canvas");
    const width = Math.ceil(size.width * (1 + 2 * PICTURE_MARGIN) * ratio); // the same for every scale: it is kept
    const height = Math.ceil(size.height * (1 + 2 * PICTURE_MARGIN) * ratio);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d", { alpha: false })!;
    clear(context, this.palette.ground);
    setCamera(context, { x: box.left, y: box.top, scale: camera.scale }, ratio);
    this.drawDetails(context, input, camera.scale, box, timeMs, rough);
    const { layout, now, dimmed, critical } = input;
    return { canvas, box, scale: camera.scale, ratio, rough, layout, now, dimmed, critical, madeMs: timeMs };
  }

  // ---- edges ----

  private measureEdges(input: SceneInput): void {
    const { graph, layout } = input;
    const count = graph.edges.length / 2;
    this.measured = layout;
    this.edgeTop = new Float32Array(count);
    this.edgeBottom = new Float32Array(count);
    for (let e = 0; e < count; e++) {
      const ends = [layout.y[graph.edges[2 * e]!]!, layout.y[graph.edges[2 * e + 1]!]!];
      let [top, bottom] = [Math.min(...ends), Math.max(...ends) + NODE_HEIGHT];
      for (let p = layout.pointStart[e]!; p < layout.pointStart[e + 1]!; p++) {
        top = Math.min(top, layout.points[2 * p + 1]!);
        bottom = Math.max(bottom, layout.points[2 * p + 1]!);
      }
      this.edgeTop[e] = top;
      this.edgeBottom[e] = bottom;
    }
  }

  private drawEdges(context: CanvasRenderingContext2D, input: SceneInput, scale: number, seen: Box, rough: boolean): void {
    const { graph, layout, critical } = input;
    const every = rough && scale < NAME_SCALE ? Math.ceil(graph.edges.length / 2 / ROUGH_EDGES) : 1;
    const curved = scale >= CURVE_SCALE && !rough;
    context.beginPath();
    for (let e = 0; e < graph.edges.length / 2; e += every) {
      const [parent, child] = [graph.edges[2 * e]!, graph.edges[2 * e + 1]!];
      if (
        layout.x[parent]! > seen.right ||
        layout.x[child]! < seen.left ||
        this.edgeTop[e]! > seen.bottom ||
        this.edgeBottom[e]! < seen.top
      )
        continue;
      if (!critical.has(parent) || !critical.has(child)) tracePath(context, input, e, curved);
    }
    context.lineWidth = Math.max(1, 0.75 / scale);
    context.strokeStyle = this.palette.edge;
    context.stroke();
  }

  /** The edges of the job that is pointed at, and those of the critical path. */
  private drawStrongEdges(input: SceneInput, unit: number): void {
    const { graph, critical } = input;
    const focus = input.hovered >= 0 ? input.hovered : input.selected;
    const strong: number[] = [];
    const near: number[] = [];
    if (critical.size === 0 && focus < 0) return;
    for (let e = 0; e < graph.edges.length / 2; e++) {
      const [parent, child] = [graph.edges[2 * e]!, graph.edges[2 * e + 1]!];
      if (critical.has(parent) && critical.has(child)) strong.push(e);
      else if (parent === focus || child === focus) near.push(e);
    }
    this.strokeEdges(input, near, this.palette.text, 1.75 * unit);
    this.strokeEdges(input, strong, this.palette.accent, 3 * unit);
  }

  private strokeEdges(input: SceneInput, edges: number[], style: string, width: number): void {
    if (edges.length === 0) return;
    this.context.beginPath();
    for (const edge of edges) tracePath(this.context, input, edge, true);
    this.context.strokeStyle = style;
    this.context.lineWidth = width;
    this.context.stroke();
  }

  // ---- jobs ----

  private stateColour(state: string): string {
    return this.palette.states.get(state) ?? this.palette.states.get("unknown")!;
  }

  private drawBlocks(context: CanvasRenderingContext2D, input: SceneInput, visible: number[], timeMs: number): void {
    const byState = new Map<string, number[]>();
    for (const index of visible) {
      const state = input.lights.shown(index, input.now[index]!, timeMs).state;
      const key = input.dimmed?.(index) === true ? "" : state;
      const list = byState.get(key);
      if (list === undefined) byState.set(key, [index]);
      else list.push(index);
    }
    for (const [state, indices] of byState) {
      context.fillStyle = state === "" ? this.palette.line : this.stateColour(state);
      for (const index of indices) context.fillRect(input.layout.x[index]!, input.layout.y[index]!, NODE_WIDTH, NODE_HEIGHT);
    }
  }

  private drawNode(context: CanvasRenderingContext2D, input: SceneInput, index: number, scale: number, timeMs: number): void {
    const node = input.graph.nodes[index]!;
    const now = input.lights.shown(index, input.now[index]!, timeMs);
    const [x, y] = [input.layout.x[index]!, input.layout.y[index]!];
    const tint = this.stateColour(now.state);
    context.globalAlpha = input.dimmed?.(index) === true ? 0.25 : 1;
    if (node.items > 0) this.box(context, x + 5, y + 5, this.palette.surface, this.palette.line, 1);
    this.box(context, x, y, this.palette.surface, tint, 1.25);
    context.fillStyle = tint;
    context.beginPath();
    context.roundRect(x, y, 26, NODE_HEIGHT, [RADIUS, 0, 0, RADIUS]);
    context.fill();
    if (now.items !== undefined && now.items.bad > 0) this.drawBadMark(context, x, y);
    context.textBaseline = "middle";
    context.textAlign = "center";
    context.fillStyle = this.palette.surface;
    context.font = "700 14px system-ui, sans-serif";
    context.fillText(stateInfo(now.state).sign, x + 13, y + NODE_HEIGHT / 2);
    context.textAlign = "left";
    const full = scale >= FULL_SCALE;
    context.fillStyle = this.palette.text;
    context.font = "600 13px system-ui, sans-serif";
    const second = full ? secondLine(node.kind, now, node.attemptsMax, input.tookMs(index)) : "";
    context.fillText(this.cut(context, node.name, NODE_WIDTH - 42), x + 34, y + (second === "" ? NODE_HEIGHT / 2 : 14.5));
    if (second !== "") {
      context.fillStyle = this.palette.faint;
      context.font = "11.5px system-ui, sans-serif";
      context.fillText(this.cut(context, second, NODE_WIDTH - (now.items ? 96 : 42)), x + 34, y + 30);
      if (now.items !== undefined) this.drawItems(context, now.items, x + NODE_WIDTH - 66, y + 27);
    }
    context.globalAlpha = 1;
  }

  private box(context: CanvasRenderingContext2D, x: number, y: number, fill: string, stroke: string, width: number): void {
    context.beginPath();
    context.roundRect(x, y, NODE_WIDTH, NODE_HEIGHT, RADIUS);
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.stroke();
  }

  /** A folded foreach job may have succeeded although items of it failed: the lower part of its strip says so. */
  private drawBadMark(context: CanvasRenderingContext2D, x: number, y: number): void {
    context.fillStyle = this.stateColour("failed");
    context.beginPath();
    context.roundRect(x, y + NODE_HEIGHT - 12, 26, 12, [0, 0, 0, RADIUS]);
    context.fill();
  }

  /** A bar of what ended well, badly and is under way. */
  private drawItems(context: CanvasRenderingContext2D, items: ItemCounts, x: number, y: number): void {
    const total = items.left + items.open + items.good + items.bad;
    const width = 56;
    const parts: [number, string][] = [
      [items.good, "succeeded"],
      [items.bad, "failed"],
      [items.open, "running"],
    ];
    context.fillStyle = this.palette.line;
    context.fillRect(x, y, width, 6);
    let from = x;
    for (const [count, state] of parts) {
      const part = (width * count) / Math.max(1, total);
      context.fillStyle = this.stateColour(state);
      context.fillRect(from, y, part, 6);
      from += part;
    }
  }

  /** What is lit, hovered, selected, or on the critical path. */
  private drawMarks(input: SceneInput, scale: number, timeMs: number): void {
    const frame = (index: number, style: string, width: number, apart: number) => {
      const context = this.context;
      context.beginPath();
      context.roundRect(
        input.layout.x[index]! - apart,
        input.layout.y[index]! - apart,
        NODE_WIDTH + 2 * apart,
        NODE_HEIGHT + 2 * apart,
        RADIUS + apart,
      );
      context.strokeStyle = style;
      context.lineWidth = width;
      context.stroke();
    };
    const unit = 1 / Math.min(1, scale);
    this.drawStrongEdges(input, unit);
    for (const index of input.critical) frame(index, this.palette.accent, 2.5 * unit, 1);
    for (const index of input.lights.indices()) {
      const glow = input.lights.glow(index, timeMs);
      if (glow <= 0) continue;
      this.context.globalAlpha = glow;
      frame(index, this.stateColour(input.now[index]?.state ?? "unknown"), 4 * unit, 3 * unit + (1 - glow) * 10 * unit);
      this.context.globalAlpha = 1;
    }
    if (input.hovered >= 0 && input.hovered !== input.selected) frame(input.hovered, this.palette.text, 1.5 * unit, 2 * unit);
    if (input.selected >= 0) frame(input.selected, this.palette.focus, 2.5 * unit, 3 * unit);
  }

  private cut(context: CanvasRenderingContext2D, text: string, width: number): string {
    const key = `${width}${context.font}${text}`;
    const known = this.labels.get(key);
    if (known !== undefined) return known;
    let cut = text;
    while (cut.length > 1 && context.measureText(cut === text ? cut : `${cut}…`).width > width)
      cut = cut.slice(0, cut.length > 60 ? 60 : -1);
    const label = cut === text ? text : `${cut}…`;
    if (this.labels.size > 50_000) this.labels.clear();
    this.labels.set(key, label);
    return label;
  }
}

/** Under the name: items, attempts, or the kind when it says something. */
export function secondLine(kind: string, now: JobNow, attemptsMax: number, tookMs = 0): string {
  const label = stateInfo(now.state).label;
  if (now.items !== undefined) {
    const total = now.items.left + now.items.open + now.items.good + now.items.bad;
    const done = `${(now.items.good + now.items.bad).toLocaleString()} / ${total.toLocaleString()}`;
    return now.items.bad > 0 ? `${now.items.bad.toLocaleString()} ✗ · ${done}` : done;
  }
  const parts = [label];
  if (tookMs > 0 && stateInfo(now.state).over) parts.push(durationText(tookMs));
  if (now.attempt > 1) parts.push(`${now.attempt} of ${Math.max(now.attempt, attemptsMax)}`);
  if (tookMs === 0 && kind !== "" && kind !== "command") parts.push(kind);
  return parts.join(" · ");
}

/** All jobs as blocks, for the mini-map; how its units lie on the canvas. */
export function drawMiniMap(canvas: HTMLCanvasElement, input: SceneInput): { scale: number; left: number; top: number } {
  const ratio = devicePixelRatio;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d")!;
  const scale = Math.min(width / Math.max(1, input.layout.width), height / Math.max(1, input.layout.height));
  const palette = paletteNow();
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const [left, top] = [(width - input.layout.width * scale) / 2, (height - input.layout.height * scale) / 2];
  const [blockWidth, blockHeight] = [Math.max(1, NODE_WIDTH * scale), Math.max(1, NODE_HEIGHT * scale)];
  input.graph.nodes.forEach((_, index) => {
    context.fillStyle = palette.states.get(input.now[index]?.state ?? "unknown") ?? palette.faint;
    context.fillRect(left + input.layout.x[index]! * scale, top + input.layout.y[index]! * scale, blockWidth, blockHeight);
  });
  return { scale, left, top };
}
