import { expect, test } from "vitest";

import { ganttRows, laneRows, tickStep } from "./gantt";
import { graphOf, nowOf, type Attempt } from "./model";

const attempt = (n: number, assignedMs: number, startedMs: number, endedMs: number): Attempt => ({
  attempt: n,
  worker: "w",
  outcome: "ok",
  assignedMs,
  startedMs,
  endedMs,
});
const graph = graphOf("f1", [{ job: "f1/b", parents: ["a"] }, { job: "f1/a" }, { job: "f1/c" }]);

test("waiting for parents, for a worker, and for the next attempt", () => {
  const rows = ganttRows(
    graph,
    [],
    [[attempt(1, 150, 160, 200), attempt(2, 260, 265, 0)], [attempt(1, 100, 105, 140)], []],
    100,
    300,
  );
  expect(rows.map((row) => graph.nodes[row.index]!.name)).toEqual(["a", "b", "c"]);
  expect(rows[1]!.bars.map(({ kind, fromMs, toMs }) => [kind, fromMs, toMs])).toEqual([
    ["wait", 140, 150],
    ["send", 150, 160],
    ["run", 160, 200],
    ["wait", 200, 260],
    ["send", 260, 265],
    ["run", 265, 300],
  ]);
});

test("an attempt whose start was not recorded ran from its assignment on", () => {
  const [row] = ganttRows(graph, [], [[], [], [attempt(1, 100, 0, 112)]], 100, 300);
  expect(row!.bars).toMatchObject([{ kind: "run", fromMs: 100, toMs: 112 }]);
});

test("a foreach job and a job that never ran have their place", () => {
  const now = [
    nowOf({ job: "f1/b", state: "skipped", since_ms: 220 }),
    nowOf({ job: "f1/a", state: "succeeded", since_ms: 200, items: 3, items_begun: 3, items_bad: 1 }),
    nowOf({ job: "f1/c", state: "waiting" }),
  ];
  const rows = ganttRows(graph, now, [[], [], []], 100, 300);
  expect(rows.map((row) => row.label)).toEqual(["a", "b", "c"]);
  expect(rows[0]!.bars).toMatchObject([{ kind: "run", fromMs: 100, toMs: 200, outcome: "succeeded" }]);
  expect(rows[1]!.bars).toMatchObject([{ kind: "mark", fromMs: 220, outcome: "skipped" }]);
  expect(rows[2]!.bars).toEqual([]);
});

test("a worker has a lane for each attempt that it had at once", () => {
  const other = { ...attempt(1, 100, 100, 130), worker: "v" };
  const rows = laneRows(graph, [[attempt(1, 150, 160, 200)], [attempt(1, 100, 105, 170)], [other, { ...attempt(2, 200, 200, 0) }]], 300);
  expect(rows.map((row) => [row.label, row.bars.map((bar) => [bar.job, bar.fromMs, bar.toMs])])).toEqual([
    ["v", [[2, 100, 130]]],
    ["w", [[1, 105, 170], [2, 200, 300]]],
    ["", [[0, 160, 200]]],
  ]);
});

test("ticks are round and not too many", () => {
  expect(tickStep(1000, 10)).toBe(100);
  expect(tickStep(3_600_000, 10)).toBe(600_000);
  expect(tickStep(30 * 86_400_000, 10)).toBe(3 * 86_400_000);
});
