// Places the jobs of a flow in layers from left to right. No DOM: it runs in a web worker (layout.worker.ts).
//
// The steps are the usual ones of layered drawing (Sugiyama), each kept linear in nodes and edges:
//   1. layers     longest path from the sources; a job whose children are far off moves up to them
//   2. dummies    a long edge gets a point in each layer that it passes, as far as the budget goes, so that it is led
//                 around nodes; edges beyond the budget are drawn straight
//   3. order      sweeps by the mean place of neighbours; the sweep with the fewest crossings is kept
//   4. heights    each layer takes the heights nearest to those of its neighbours that keep nodes apart. That is a least
//                 squares problem with an order: solved exactly, in one pass, by pooling adjacent violators
// Where the whole would be far taller than wide, large layers are folded into blocks of columns. See docs/adr/0088.

export interface LayoutInput {
  count: number;
  edges: Int32Array; // pairs of parent and child
  nodeWidth: number;
  nodeHeight: number;
}

export interface Layout {
  x: Float32Array; // left upper corners
  y: Float32Array;
  entryX: Float32Array; // where edges arrive: at the job itself, or at the block that its layer is folded into
  exitX: Float32Array;
  layer: Int32Array;
  width: number;
  height: number;
  /** Points between the ends of edge e: pointStart[e] up to pointStart[e + 1], as pairs of x and y. */
  pointStart: Int32Array;
  points: Float32Array;
  crossings: number; // -1: not counted
}

const GAP_X = 72;
const GAP_Y = 14;
const DUMMY_HEIGHT = 10;
const FOLD_FROM = 32; // jobs in a layer
const ASPECT = 1.5; // width to height that folding aims at
const SPAN_MAX = 48; // a longer edge is drawn straight
const SWEEPS = 8;
const SWEEPS_LARGE = 4;
const LARGE = 4000; // nodes with dummies
const HEIGHT_SWEEPS = 14;
const HEIGHT_SWEEPS_LARGE = 6;

/** Neighbours in compressed rows: those of i are at[start[i]] up to at[start[i + 1]]. */
export interface Rows {
  start: Int32Array;
  at: Int32Array;
}

export function rowsOf(count: number, from: Int32Array, to: Int32Array): Rows {
  const start = new Int32Array(count + 1);
  for (const node of from) start[node + 1]!++;
  for (let i = 0; i < count; i++) start[i + 1]! += start[i]!;
  const next = start.slice(0, count);
  const at = new Int32Array(from.length);
  for (let e = 0; e < from.length; e++) at[next[from[e]!]!++] = to[e]!;
  return { start, at };
}

/** Parents before children; nodes on a cycle (a flow has none) come last. */
export function topologicalOrder(count: number, parents: Rows, children: Rows): Int32Array {
  const open = new Int32Array(count);
  const order = new Int32Array(count);
  const taken = new Uint8Array(count);
  let end = 0;
  for (let i = 0; i < count; i++) {
    open[i] = parents.start[i + 1]! - parents.start[i]!;
    if (open[i] === 0) order[end++] = i;
  }
  for (let at = 0; at < end; at++) {
    const node = order[at]!;
    taken[node] = 1;
    for (let k = children.start[node]!; k < children.start[node + 1]!; k++) {
      const child = children.at[k]!;
      open[child]!--;
      if (open[child] === 0) order[end++] = child;
    }
  }
  for (let i = 0; i < count && end < count; i++) if (taken[i] === 0) order[end++] = i;
  return order;
}

function layersOf(count: number, parents: Rows, children: Rows): Int32Array {
  const order = topologicalOrder(count, parents, children);
  const layer = new Int32Array(count);
  for (const node of order)
    for (let k = parents.start[node]!; k < parents.start[node + 1]!; k++)
      layer[node] = Math.max(layer[node]!, layer[parents.at[k]!]! + 1);
  for (let i = count - 1; i >= 0; i--) {
    const node = order[i]!;
    const fanIn = parents.start[node + 1]! - parents.start[node]!;
    const fanOut = children.start[node + 1]! - children.start[node]!;
    if (fanOut === 0 || fanIn >= fanOut) continue;
    let nearest = Infinity;
    for (let k = children.start[node]!; k < children.start[node + 1]!; k++) nearest = Math.min(nearest, layer[children.at[k]!]!);
    layer[node] = Math.max(layer[node]!, nearest - 1);
  }
  return layer;
}

// ---- the graph with dummies: every edge that is led goes from one layer to the next ----

interface Proper {
  count: number; // nodes and dummies; dummies come behind the nodes
  layer: Int32Array;
  above: Rows; // neighbours in the layer before
  below: Rows;
  layers: Int32Array[]; // what is in each, in order
  firstDummy: Int32Array; // of each edge, -1: none; those of one edge follow each other
  from: Int32Array;
  to: Int32Array;
}

function properOf(count: number, edges: Int32Array, layer: Int32Array): Proper {
  const edgeCount = edges.length / 2;
  const budget = 4 * (count + edgeCount) + 4096;
  const firstDummy = new Int32Array(edgeCount).fill(-1);
  let total = count;
  for (let e = 0; e < edgeCount; e++) {
    const span = layer[edges[2 * e + 1]!]! - layer[edges[2 * e]!]!;
    if (span < 2 || span > SPAN_MAX || total - count + span > budget) continue;
    firstDummy[e] = total;
    total += span - 1;
  }
  const all = new Int32Array(total);
  all.set(layer);
  const from: number[] = [];
  const to: number[] = [];
  for (let e = 0; e < edgeCount; e++) {
    const parent = edges[2 * e]!;
    const child = edges[2 * e + 1]!;
    const dummy = firstDummy[e]!;
    if (dummy < 0) {
      if (layer[child]! - layer[parent]! !== 1) continue;
      from.push(parent);
      to.push(child);
      continue;
    }
    let before = parent;
    const span = layer[child]! - layer[parent]!;
    for (let k = 0; k < span - 1; k++) {
      all[dummy + k] = layer[parent]! + k + 1;
      from.push(before);
      to.push(dummy + k);
      before = dummy + k;
    }
    from.push(before);
    to.push(child);
  }
  const fromAll = Int32Array.from(from);
  const toAll = Int32Array.from(to);
  const rows = { below: rowsOf(total, fromAll, toAll), above: rowsOf(total, toAll, fromAll) };
  return { count: total, layer: all, ...rows, layers: [], firstDummy, from: fromAll, to: toAll };
}

// ---- order ----

/** Depth first from the sources, so that what belongs together starts out together. */
function firstOrder(proper: Proper): Int32Array[] {
  const depth = proper.layer.reduce((most, layer) => Math.max(most, layer + 1), 0);
  const layers: number[][] = Array.from({ length: depth }, () => []);
  const seen = new Uint8Array(proper.count);
  const stack: number[] = [];
  const visit = (root: number) => {
    stack.push(root);
    while (stack.length > 0) {
      const node = stack.pop()!;
      if (seen[node] === 1) continue;
      seen[node] = 1;
      layers[proper.layer[node]!]!.push(node);
      for (let k = proper.below.start[node + 1]! - 1; k >= proper.below.start[node]!; k--) stack.push(proper.below.at[k]!);
    }
  };
  for (let i = 0; i < proper.count; i++) if (proper.above.start[i] === proper.above.start[i + 1]) visit(i);
  for (let i = 0; i < proper.count; i++) if (seen[i] === 0) visit(i);
  return layers.map((nodes) => Int32Array.from(nodes));
}

function sortLayer(nodes: Int32Array, neighbours: Rows, place: Float64Array): Int32Array {
  const key = new Map<number, number>();
  nodes.forEach((node, index) => {
    const first = neighbours.start[node]!;
    const end = neighbours.start[node + 1]!;
    let sum = 0;
    for (let k = first; k < end; k++) sum += place[neighbours.at[k]!]!;
    key.set(node, end === first ? index : sum / (end - first));
  });
  return nodes.slice().sort((a, b) => key.get(a)! - key.get(b)! || place[a]! - place[b]!);
}

const setPlaces = (nodes: Int32Array, place: Float64Array) => nodes.forEach((node, index) => (place[node] = index));

/** Crossings between neighbouring layers, by counting inversions with a Fenwick tree: O(E log V). */
export function crossingsOf(layers: Int32Array[], below: Rows, place: Float64Array): number {
  let crossings = 0;
  for (let l = 0; l + 1 < layers.length; l++) {
    const size = layers[l + 1]!.length;
    const tree = new Int32Array(size + 1);
    let entered = 0;
    for (const node of layers[l]!) {
      const ends = Array.from(below.at.subarray(below.start[node], below.start[node + 1]), (child) => place[child]!);
      for (const end of ends) {
        let notBehind = 0;
        for (let i = end + 1; i > 0; i -= i & -i) notBehind += tree[i]!;
        crossings += entered - notBehind;
      }
      for (const end of ends) for (let i = end + 1; i <= size; i += i & -i) tree[i]!++;
      entered += ends.length;
    }
  }
  return crossings;
}

function orderLayers(proper: Proper): number {
  const place = new Float64Array(proper.count);
  let layers = firstOrder(proper);
  layers.forEach((nodes) => setPlaces(nodes, place));
  let best = layers;
  let fewest = crossingsOf(layers, proper.below, place);
  const sweeps = proper.count > LARGE ? SWEEPS_LARGE : SWEEPS;
  for (let sweep = 0; sweep < sweeps && fewest > 0; sweep++) {
    const down = sweep % 2 === 0;
    layers = layers.slice();
    for (let k = 1; k < layers.length; k++) {
      const l = down ? k : layers.length - 1 - k;
      layers[l] = sortLayer(layers[l]!, down ? proper.above : proper.below, place);
      setPlaces(layers[l]!, place);
    }
    const crossings = crossingsOf(layers, proper.below, place);
    if (crossings < fewest) {
      fewest = crossings;
      best = layers;
    }
  }
  proper.layers = best;
  return fewest;
}

// ---- heights ----

/**
 * Heights nearest to `wanted` (weighted squares) with at least `apart` between i - 1 and i. Taking the running sum of
 * `apart` away turns it into monotone regression: neighbours that are out of order are pooled at their mean.
 */
export function separate(wanted: Float64Array, weight: Float64Array, apart: Float64Array): Float64Array {
  const count = wanted.length;
  const mean = new Float64Array(count);
  const mass = new Float64Array(count);
  const size = new Int32Array(count);
  let blocks = 0;
  let offset = 0;
  const result = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    if (i > 0) offset += apart[i]!;
    result[i] = offset;
    mean[blocks] = wanted[i]! - offset;
    mass[blocks] = weight[i]!;
    size[blocks] = 1;
    blocks++;
    while (blocks > 1 && mean[blocks - 2]! > mean[blocks - 1]!) {
      const both = mass[blocks - 2]! + mass[blocks - 1]!;
      mean[blocks - 2] = (mean[blocks - 2]! * mass[blocks - 2]! + mean[blocks - 1]! * mass[blocks - 1]!) / both;
      mass[blocks - 2] = both;
      size[blocks - 2]! += size[blocks - 1]!;
      blocks--;
    }
  }
  for (let b = 0, i = 0; b < blocks; b++) for (let k = 0; k < size[b]!; k++, i++) result[i]! += mean[b]!;
  return result;
}

interface Column {
  nodes: Int32Array;
  apart: Float64Array; // between the middles of a node and the one before
  columns: number; // of the block that it is folded into; 1 = it is not
  rows: number;
}

/** The most rows that a layer may have for the whole to be as wide as ASPECT asks. */
function rowsMax(sizes: readonly number[], input: LayoutInput): number {
  let rows = Math.max(FOLD_FROM, ...sizes);
  for (; rows > FOLD_FROM; rows = Math.floor(rows * 0.9)) {
    const width = sizes.reduce((sum, size) => sum + Math.ceil(size / rows) * (input.nodeWidth + GAP_Y) + GAP_X, 0);
    const height = Math.min(rows, Math.max(...sizes)) * (input.nodeHeight + GAP_Y);
    if (width / height >= ASPECT) break;
  }
  return Math.max(rows, FOLD_FROM);
}

function columnsOf(proper: Proper, input: LayoutInput): Column[] {
  const realIn = (nodes: Int32Array) => nodes.reduce((sum, node) => sum + (node < input.count ? 1 : 0), 0);
  const most = rowsMax(proper.layers.map(realIn), input);
  const heightOf = (node: number) => (node < input.count ? input.nodeHeight : DUMMY_HEIGHT);
  return proper.layers.map((nodes) => {
    const columns = Math.max(1, Math.ceil(realIn(nodes) / most));
    const apart = new Float64Array(nodes.length);
    for (let i = 1; i < nodes.length; i++) apart[i] = (heightOf(nodes[i - 1]!) + heightOf(nodes[i]!)) / 2 + GAP_Y;
    return { nodes, apart, columns, rows: columns === 1 ? nodes.length : Math.ceil(realIn(nodes) / columns) };
  });
}

/** Middles in a block: down the first column, then down the second. Edges that pass the layer go above the block. */
function placeBlock(column: Column, input: LayoutInput, middle: Float64Array): void {
  const step = input.nodeHeight + GAP_Y;
  let [index, passing] = [0, 0];
  for (const node of column.nodes) {
    if (node < input.count) middle[node] = ((index++ % column.rows) - (column.rows - 1) / 2) * step;
    else middle[node] = -(column.rows / 2) * step - ++passing * (DUMMY_HEIGHT + 4);
  }
}

function heights(proper: Proper, columns: Column[], input: LayoutInput): Float64Array {
  const middle = new Float64Array(proper.count);
  for (const column of columns) {
    let offset = 0;
    column.nodes.forEach((node, i) => (middle[node] = offset += column.apart[i]!));
    for (const node of column.nodes) middle[node]! -= offset / 2;
    if (column.columns > 1) placeBlock(column, input, middle);
  }
  const sweeps = proper.count > LARGE ? HEIGHT_SWEEPS_LARGE : HEIGHT_SWEEPS;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const down = sweep % 2 === 0;
    for (let k = 0; k < columns.length; k++) {
      const column = columns[down ? k : columns.length - 1 - k]!;
      if (column.columns > 1) continue;
      const last = sweep >= sweeps - 4;
      const wanted = new Float64Array(column.nodes.length);
      const weight = new Float64Array(column.nodes.length);
      column.nodes.forEach((node, i) => {
        let sum = 0;
        let count = 0;
        for (const rows of last ? [proper.above, proper.below] : [down ? proper.above : proper.below])
          for (let e = rows.start[node]!; e < rows.start[node + 1]!; e++, count++) sum += middle[rows.at[e]!]!;
        wanted[i] = count === 0 ? middle[node]! : sum / count;
        weight[i] = count === 0 ? 0.1 : node >= input.count ? 4 : 1; // a long edge would rather be straight
      });
      separate(wanted, weight, column.apart).forEach((y, i) => (middle[column.nodes[i]!] = y));
    }
  }
  return middle;
}

// ---- all together ----

export function layOut(input: LayoutInput): Layout {
  const { count, edges, nodeWidth, nodeHeight } = input;
  const from = edges.filter((_, i) => i % 2 === 0);
  const to = edges.filter((_, i) => i % 2 === 1);
  const layer = layersOf(count, rowsOf(count, to, from), rowsOf(count, from, to));
  const proper = properOf(count, edges, layer);
  const crossings = orderLayers(proper);
  const columns = columnsOf(proper, input);
  const middle = heights(proper, columns, input);

  const left = new Float64Array(columns.length);
  let right = 0;
  columns.forEach((column, l) => {
    left[l] = right;
    right += column.columns * (nodeWidth + GAP_Y) - GAP_Y + GAP_X + Math.min(96, column.nodes.length);
  });
  const middleX = new Float64Array(proper.count);
  columns.forEach((column, l) => {
    let inBlock = 0;
    for (const node of column.nodes) {
      const at = node < count ? Math.floor(inBlock++ / column.rows) : (column.columns - 1) / 2;
      middleX[node] = left[l]! + (column.columns > 1 ? at * (nodeWidth + GAP_Y) : 0) + nodeWidth / 2;
    }
  });
  let top = Infinity;
  let bottom = -Infinity;
  for (let i = 0; i < count; i++) {
    top = Math.min(top, middle[i]! - nodeHeight / 2);
    bottom = Math.max(bottom, middle[i]! + nodeHeight / 2);
  }
  for (let i = count; i < proper.count; i++) {
    top = Math.min(top, middle[i]! - DUMMY_HEIGHT);
    bottom = Math.max(bottom, middle[i]! + DUMMY_HEIGHT);
  }
  if (count === 0) top = bottom = 0;

  const x = Float32Array.from({ length: count }, (_, i) => middleX[i]! - nodeWidth / 2);
  const y = Float32Array.from({ length: count }, (_, i) => middle[i]! - nodeHeight / 2 - top);
  const entryX = x.slice();
  const exitX = x.map((corner) => corner + nodeWidth);
  columns.forEach((column, l) => {
    if (column.columns === 1) return;
    const blockRight = left[l]! + column.columns * (nodeWidth + GAP_Y) - GAP_Y;
    for (const node of column.nodes) if (node < count) [entryX[node], exitX[node]] = [left[l]! - 4, blockRight + 4];
  });
  const pointStart = new Int32Array(edges.length / 2 + 1);
  const points: number[] = [];
  for (let e = 0; e < edges.length / 2; e++) {
    pointStart[e] = points.length / 2;
    const dummy = proper.firstDummy[e]!;
    if (dummy < 0) continue;
    const span = layer[edges[2 * e + 1]!]! - layer[edges[2 * e]!]!;
    for (let k = 0; k < span - 1; k++) {
      const [column, height] = [columns[layer[edges[2 * e]!]! + k + 1]!, middle[dummy + k]! - top];
      const half = ((column.columns - 1) * (nodeWidth + GAP_Y) + (column.columns > 1 ? nodeWidth : 0)) / 2;
      points.push(middleX[dummy + k]! - half, height);
      if (half > 0) points.push(middleX[dummy + k]! + half, height);
    }
  }
  pointStart[edges.length / 2] = points.length / 2;
  const width = count === 0 ? 0 : right - GAP_X;
  return { x, y, entryX, exitX, layer, width, height: bottom - top, pointStart, points: Float32Array.from(points), crossings };
}
