import { expect, test } from "vitest";

import type { JobView, Reason } from "../../api/client";
import { explain } from "./explain";
import { attemptsOf, graphOf, nowOf } from "./model";

function why(jobs: JobView[], index: number, reason?: Reason) {
  const attempts = attemptsOf(jobs[index]!);
  return explain({ graph: graphOf("f1", jobs), now: jobs.map(nowOf), index, attempts, nowMs: 10_000, reason });
}

test("which dependencies are left", () => {
  const got = why(
    [
      { job: "f1/a", state: "succeeded" },
      { job: "f1/b", state: "running" },
      { job: "f1/c", state: "waiting", parents: ["a", "b"] },
    ],
    2,
  );
  expect(got.facts).toEqual(["1 of 2 dependencies done; left: b (running)"]);
  expect(got.rule.name).toBe("Kahn's rule");
});

test("when the retry is due", () => {
  expect(why([{ job: "f1/a", state: "waiting", attempt: 1, due_ms: 13_000 }], 0)).toMatchObject({
    headline: "Retry due in 3.0 s",
    rule: { name: "Retry" },
  });
});

test("a ready job has the server's reason", () => {
  const got = why([{ job: "f1/a", state: "ready", since_ms: 9_000 }], 0, { code: "capability", text: "no worker has a GPU" });
  expect(got).toMatchObject({ headline: "no worker has a GPU", facts: ["for 1.0 s"], rule: { name: "Fit" } });
  expect(why([{ job: "f1/a", state: "ready" }], 0).rule.name).toBe("Choice");
});

test("a cascade names its root", () => {
  const got = why([{ job: "f1/a", state: "failed", cause: "upstream", root: "f1/load" }], 0);
  expect(got).toMatchObject({ headline: "Not run because load did not succeed", rule: { name: "Cascade" } });
});

test("a running job has its worker and lease", () => {
  const got = why([{ job: "f1/a", state: "running", worker: "w1", since_ms: 8_000, attempt: 2, attempts_max: 4 }], 0);
  expect(got).toMatchObject({ headline: "Running on w1 for 2.0 s", facts: ["attempt 2 of 4"], rule: { name: "Lease" } });
});

test("every state has a headline and a rule", () => {
  for (const state of [
    "waiting",
    "held",
    "ready",
    "dispatched",
    "running",
    "checking",
    "succeeded",
    "failed",
    "upstream_failed",
    "timed_out",
    "cancelled",
    "denied",
    "quarantined",
    "skipped",
  ]) {
    const got = why([{ job: "f1/a", state }], 0);
    expect(got.headline, state).not.toBe("");
    expect(got.rule.text, state).not.toBe("");
  }
});
