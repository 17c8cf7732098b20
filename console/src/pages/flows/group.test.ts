import { expect, test } from "vitest";

import type { FlowView } from "../../api/client";
import { groupFlows, isSortKey, sortFlows } from "./group";

const run = (flow: string, name: string | undefined, state: string, took?: number): FlowView =>
  ({ flow, name, state, created_ms: 1000, finished_ms: took === undefined ? undefined : 1000 + took }) as FlowView;

test("flows of one name are one row, the name with the newest flow first", () => {
  const groups = groupFlows([run("f3", "b", "running"), run("f2", "a", "failed", 10), run("f1", "b", "succeeded", 20)]);
  expect(groups.map((group) => group.name)).toEqual(["b", "a"]);
  expect(groups[0]).toMatchObject({ good: 1, bad: 0, running: 1, tookMs: 20 });
  expect(groups[0]!.runs.map((each) => each.flow)).toEqual(["f3", "f1"]);
});

test("the trend is the newest success against the usual one", () => {
  const took = [300, 100, 90, 110, 105];
  const [group] = groupFlows(took.map((ms, i) => run(`f${i}`, "a", "succeeded", ms)));
  expect(group).toMatchObject({ tookMs: 105 });
  expect(group!.trend).toBeCloseTo(2.86, 2);
  expect(groupFlows([run("f1", "a", "succeeded", 9)])[0]!.trend).toBeUndefined();
});

test("flows are sorted by what a column shows; equal ones stay the newest first", () => {
  const flows = [run("f3", "b", "failed", 5), run("f2", "a", "failed", 50), run("f1", "a", "succeeded")];
  expect(sortFlows(flows, "took").map((flow) => flow.flow)).toEqual(["f2", "f3", "f1"]);
  expect(sortFlows(flows, "name").map((flow) => flow.flow)).toEqual(["f2", "f1", "f3"]);
  expect(isSortKey("took")).toBe(true);
  expect(isSortKey("constructor")).toBe(false);
});
