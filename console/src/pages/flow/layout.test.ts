import { describe, expect, test } from "vitest";

import { layOut, separate, type Layout } from "./layout";

const SIZE = { nodeWidth: 170, nodeHeight: 36 };
const lay = (count: number, pairs: number[][]) => layOut({ count, edges: Int32Array.from(pairs.flat()), ...SIZE });

function expectNoOverlap(layout: Layout): void {
  const order = [...layout.x.keys()].sort((a, b) => layout.x[a]! - layout.x[b]! || layout.y[a]! - layout.y[b]!);
  for (let i = 1; i < order.length; i++) {
    const [a, b] = [order[i - 1]!, order[i]!];
    if (layout.x[b]! < layout.x[a]! + SIZE.nodeWidth) expect(layout.y[b]! - layout.y[a]!).toBeGreaterThanOrEqual(SIZE.nodeHeight);
  }
}

/** Layers of jobs with two parents each in the layer before, by a fixed sequence. */
function layered(layers: number, width: number): number[][] {
  const pairs: number[][] = [];
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) % width;
  for (let l = 1; l < layers; l++)
    for (let i = 0; i < width; i++) for (let k = 0; k < 2; k++) pairs.push([(l - 1) * width + random(), l * width + i]);
  return pairs;
}

describe("layers", () => {
  test("a child is right of its parents", () => {
    const pairs = [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
      [0, 3],
      [3, 4],
    ];
    const layout = lay(5, pairs);
    for (const [parent, child] of pairs) expect(layout.x[child!]).toBeGreaterThan(layout.x[parent!]! + SIZE.nodeWidth);
    expect([...layout.layer]).toEqual([0, 1, 1, 2, 3]);
  });

  test("a source stands just before what needs it", () => {
    expect([
      ...lay(4, [
        [0, 1],
        [1, 2],
        [3, 2],
      ]).layer,
    ]).toEqual([0, 1, 2, 1]);
  });

  test("nothing and one job are laid out too", () => {
    expect(lay(0, [])).toMatchObject({ width: 0, height: 0 });
    expect(lay(1, []).height).toBe(SIZE.nodeHeight);
  });

  test("a cycle, which no flow has, ends all the same", () => {
    expect(
      lay(3, [
        [0, 1],
        [1, 2],
        [2, 1],
      ]).x.length,
    ).toBe(3);
  });
});

describe("order and heights", () => {
  test("a chain is a straight line", () => {
    const layout = lay(
      50,
      Array.from({ length: 49 }, (_, i) => [i, i + 1]),
    );
    expect(new Set(layout.y).size).toBe(1);
  });

  test("what can be untangled is", () => {
    const pairs = [
      [0, 3],
      [0, 5],
      [1, 4],
      [2, 3],
    ];
    expect(lay(6, pairs).crossings).toBe(0);
  });

  test("a long edge is led around the job that it passes", () => {
    const layout = lay(3, [
      [0, 1],
      [1, 2],
      [0, 2],
    ]);
    expect(layout.pointStart[3]! - layout.pointStart[2]!).toBe(1);
    const bend = layout.points[2 * layout.pointStart[2]! + 1]!;
    expect(bend < layout.y[1]! || bend > layout.y[1]! + SIZE.nodeHeight).toBe(true);
  });

  test("jobs never overlap", () => {
    expectNoOverlap(lay(100, layered(10, 10)));
    expectNoOverlap(lay(300, layered(3, 100)));
  });

  test("a parent stands in the middle of its children", () => {
    const layout = lay(4, [
      [0, 1],
      [0, 2],
      [0, 3],
    ]);
    expect(layout.y[0]).toBeCloseTo((layout.y[1]! + layout.y[2]! + layout.y[3]!) / 3, 3);
  });

  test("separate is the nearest that keeps apart", () => {
    const got = separate(Float64Array.of(0, 0, 10), Float64Array.of(1, 1, 1), Float64Array.of(0, 4, 4));
    expect([...got]).toEqual([-2, 2, 10]);
  });
});

describe("size", () => {
  test("one, many, one is folded into a block that fits a screen", () => {
    const middle = Array.from({ length: 998 }, (_, i) => [
      [0, i + 1],
      [i + 1, 999],
    ]).flat();
    const layout = lay(1000, middle);
    expectNoOverlap(layout);
    expect(layout.width / layout.height).toBeGreaterThan(0.5);
    expect(layout.width / layout.height).toBeLessThan(4);
  });

  test("an edge that passes a block goes above it", () => {
    const middle = Array.from({ length: 998 }, (_, i) => [
      [0, i + 1],
      [i + 1, 999],
    ]).flat();
    const layout = lay(1000, [...middle, [0, 999]]);
    const edge = middle.length;
    const bend = layout.points[2 * layout.pointStart[edge]! + 1]!;
    expect(bend).toBeLessThan(Math.min(...layout.y.subarray(1, 999)));
  });

  test("10,000 jobs take less than two seconds", () => {
    for (const [layers, width] of [
      [100, 100],
      [10, 1000],
      [1000, 10],
    ] as const) {
      const pairs = layered(layers, width);
      const began = performance.now();
      const layout = lay(10_000, pairs);
      const took = performance.now() - began;
      expect(layout.x.length).toBe(10_000);
      expect(took).toBeLessThan(2000);
    }
  });

  test("a job that everything needs costs no dummies without end", () => {
    const pairs = Array.from({ length: 4999 }, (_, i) => [
      [i, i + 1],
      [0, i + 1],
    ]).flat();
    expect(lay(5000, pairs).points.length).toBeLessThan(200_000);
  });
});
