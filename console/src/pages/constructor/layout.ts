// Where jobs stand when nobody has put them anywhere: layers from top to bottom, each job below all that it needs, and
// in a layer near the middle of its parents, so that few edges cross. Small graphs, drawn by hand: hundreds of jobs.
import { edgesOf, type Draft, type Job } from "./draft";

export const NODE_WIDTH = 176;
export const NODE_HEIGHT = 56;
const STEP_X = NODE_WIDTH + 32;
const STEP_Y = NODE_HEIGHT + 56;
const SWEEPS = 4;

/** The layer of each job: the longest way to it from a job that needs nothing. Jobs on a circle come last. */
export function layersOf(draft: Draft): string[][] {
  const edges = edgesOf(draft);
  const left = new Map(draft.jobs.map((job) => [job.name, 0]));
  const children = new Map(draft.jobs.map((job) => [job.name, [] as string[]]));
  for (const { from, to } of edges) {
    left.set(to, left.get(to)! + 1);
    children.get(from)!.push(to);
  }
  const layers: string[][] = [];
  let layer = draft.jobs.map((job) => job.name).filter((name) => left.get(name) === 0);
  while (layer.length > 0) {
    layers.push(layer);
    const next: string[] = [];
    for (const name of layer) {
      left.delete(name);
      for (const child of children.get(name)!) {
        left.set(child, left.get(child)! - 1);
        if (left.get(child) === 0) next.push(child);
      }
    }
    layer = next;
  }
  if (left.size > 0) layers.push([...left.keys()]);
  return layers;
}

function sweep(layers: string[][], neighbours: Map<string, string[]>, order: number[]): void {
  const at = new Map(layers.flatMap((layer) => layer.map((name, i) => [name, i - layer.length / 2] as const)));
  for (const index of order) {
    const layer = layers[index]!;
    const middle = (name: string): number => {
      const near = neighbours.get(name) ?? [];
      return near.length === 0 ? at.get(name)! : near.reduce((sum, other) => sum + at.get(other)!, 0) / near.length;
    };
    const middles = new Map(layer.map((name) => [name, middle(name)]));
    layer.sort((a, b) => middles.get(a)! - middles.get(b)!);
    layer.forEach((name, i) => at.set(name, i - layer.length / 2));
  }
}

/** `step`: from one job to the next in its layer, and from one layer to the next. */
export function arrange(draft: Draft, step = { x: STEP_X, y: STEP_Y }): Draft {
  const layers = layersOf(draft);
  const parents = new Map<string, string[]>();
  const children = new Map<string, string[]>();
  for (const { from, to } of edgesOf(draft)) {
    parents.set(to, [...(parents.get(to) ?? []), from]);
    children.set(from, [...(children.get(from) ?? []), to]);
  }
  const down = layers.map((_, i) => i);
  for (let n = 0; n < SWEEPS; n++) {
    sweep(layers, parents, down);
    sweep(layers, children, [...down].reverse());
  }
  sweep(layers, parents, down);
  const places = new Map<string, { x: number; y: number }>();
  layers.forEach((layer, row) =>
    layer.forEach((name, column) => places.set(name, { x: Math.round((column - (layer.length - 1) / 2) * step.x), y: row * step.y })),
  );
  return { ...draft, jobs: draft.jobs.map((job): Job => ({ ...job, ...places.get(job.name)! })) };
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Around all jobs. */
export function boxOf(jobs: Job[]): Box {
  if (jobs.length === 0) return { x: 0, y: 0, width: NODE_WIDTH, height: NODE_HEIGHT };
  const x = Math.min(...jobs.map((job) => job.x));
  const y = Math.min(...jobs.map((job) => job.y));
  const right = Math.max(...jobs.map((job) => job.x)) + NODE_WIDTH;
  const bottom = Math.max(...jobs.map((job) => job.y)) + NODE_HEIGHT;
  return { x, y, width: right - x, height: bottom - y };
}
