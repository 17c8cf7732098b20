import { expect, it } from "vitest";

import { groupRuns } from "./group";

const flow = (id: string, run: string, state: string, at: number, states: Record<string, number>) => ({
  flow: id, state, created_ms: at, finished_ms: state === "running" ? 0 : at + 5, labels: { agent_run_id: run },
  job_count: Object.values(states).reduce((sum, count) => sum + count, 0), states,
});

it("groups flows by their run and adds them up, the latest first", () => {
  const runs = groupRuns([
    flow("f13", "a", "running", 300, { running: 1, waiting: 2 }),
    flow("f12", "b", "failed", 200, { failed: 1, succeeded: 1 }),
    { flow: "f1x", labels: { team: "blue" } },
    { flow: "f1y" },
    flow("f11", "a", "succeeded", 100, { succeeded: 3, skipped: 1 }),
  ]);
  expect(runs.map((run) => run.id)).toEqual(["a", "b"]);
  expect(runs[0]).toMatchObject({ jobs: 7, jobsOver: 4, jobsBad: 0, beganMs: 100, latestMs: 300 });
  expect([...runs[0]!.states]).toEqual([["running", 1], ["succeeded", 1]]);
  expect(runs[1]).toMatchObject({ jobs: 2, jobsOver: 2, jobsBad: 1, latestMs: 205 });
});

it("has no runs without labels", () => {
  expect(groupRuns([{ flow: "f11" }])).toEqual([]);
});
