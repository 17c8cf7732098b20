import { expect, test } from "vitest";

import type { JobView } from "../../api/client";
import { layOut } from "./layout";
import { graphOf, nowOf } from "./model";
import { cascadeOf, matchesOf, neighbour } from "./walk";

const jobs: JobView[] = [
  { job: "f1/load", state: "failed", cause: "exit" },
  { job: "f1/clean", state: "failed", cause: "upstream", root: "f1/load", parents: ["load"] },
  { job: "f1/other", state: "succeeded" },
  { job: "f1/join", state: "failed", cause: "upstream", root: "f1/load", parents: ["clean", "other"] },
  { job: "f1/tell", state: "succeeded", parents: ["join"] },
];
const graph = graphOf("f1", jobs);
const layout = layOut({ count: jobs.length, edges: graph.edges, nodeWidth: 184, nodeHeight: 42 });

test("a search is part of a name, in any case", () => {
  expect(matchesOf(graph, " LO ")).toEqual(new Set([0]));
  expect(matchesOf(graph, "")).toBeUndefined();
});

test("arrows go to parents, children and neighbours", () => {
  expect(neighbour(graph, layout, -1, "ArrowRight")).toBe(0);
  expect(neighbour(graph, layout, 0, "ArrowRight")).toBe(1);
  expect(neighbour(graph, layout, 1, "ArrowLeft")).toBe(0);
  expect(neighbour(graph, layout, 0, "ArrowLeft")).toBe(-1);
  const column = [1, 2].sort((a, b) => layout.y[a]! - layout.y[b]!);
  expect(neighbour(graph, layout, column[0]!, "ArrowDown")).toBe(column[1]);
  expect(neighbour(graph, layout, column[1]!, "ArrowUp")).toBe(column[0]);
});

test("a cascade is what the root dragged down, nearest first", () => {
  expect(cascadeOf(graph, jobs.map(nowOf), 0)).toEqual([1, 3]);
  expect(cascadeOf(graph, jobs.map(nowOf), 2)).toEqual([]);
});

test("a job that a failure reaches by two ways falls once", () => {
  const fallen = { state: "failed", cause: "upstream" };
  const diamond: JobView[] = [
    { job: "f1/a", state: "failed" },
    { job: "f1/b", ...fallen, parents: ["a"] },
    { job: "f1/c", ...fallen, parents: ["a"] },
    { job: "f1/d", ...fallen, parents: ["b", "c"] },
  ];
  expect(cascadeOf(graphOf("f1", diamond), diamond.map(nowOf), 0)).toEqual([1, 2, 3]);
});
