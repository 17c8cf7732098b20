import { describe, expect, test } from "vitest";

import type { JobView } from "../../api/client";
import type { ChangeEvent } from "../../api/events";
import { attemptsOf, criticalPath, graphOf, itemOf, newborn, nowOf, step, stepAttempts, type Attempt } from "./model";
import { Past, sentenceOf } from "./past";

const jobs: JobView[] = [
  { job: "f1/a", state: "succeeded", kind: "command" },
  { job: "f1/m", state: "waiting", parents: ["a"], items: 3, items_begun: 2, items_open: 1, items_bad: 0 },
  { job: "f1/z", state: "waiting", parents: ["a", "m"] },
];
let ordinal = 0;
const event = (target: string, from: string, to: string, more: Partial<ChangeEvent> = {}): ChangeEvent => ({
  type: "job",
  position: `7.${ordinal++}`,
  time_ms: 1000 + ordinal,
  target,
  from,
  to,
  ...more,
});

describe("the graph", () => {
  test("has an edge from each parent", () => {
    const graph = graphOf("f1", jobs);
    expect([...graph.edges]).toEqual([0, 1, 0, 2, 1, 2]);
    expect(graph.nodes[1]!.children).toEqual([2]);
  });

  test("unfolded items stand between the parents of their job and itself", () => {
    const items = [0, 1].map((i): JobView => ({ job: `f1/m[${i}]`, state: "ready" }));
    const graph = graphOf("f1", jobs, new Map([["m", items]]));
    expect(graph.nodes[3]).toMatchObject({ name: "m[0]", itemOf: 1, parents: [0], children: [1] });
    expect(graph.nodes[1]!.parents).toEqual([3, 4]);
  });

  test("a compensation hangs on what it undoes", () => {
    const graph = graphOf("f1", [{ job: "f1/pay" }, { job: "f1/pay~undo" }]);
    expect(graph.nodes[1]!.parents).toEqual([0]);
  });

  test("names of items", () => {
    expect(itemOf("map[12]")).toEqual({ whole: "map", item: 12 });
    expect(itemOf("map")).toBeUndefined();
  });
});

describe("a step", () => {
  test("moves the job and nothing else", () => {
    const graph = graphOf("f1", jobs);
    const now = jobs.map(nowOf);
    const before = now.slice();
    expect(step(graph, now, event("f1/z", "waiting", "ready"))).toBe(2);
    expect(now[2]!.state).toBe("ready");
    expect(before[2]!.state).toBe("waiting");
    expect(now[0]).toBe(before[0]);
  });

  test("ignores other flows, also those whose id begins alike", () => {
    const graph = graphOf("f1", jobs);
    expect(step(graph, jobs.map(nowOf), event("f11/z", "waiting", "ready"))).toBe(-1);
  });

  test("counts items, also those that wait for a retry", () => {
    const graph = graphOf("f1", jobs);
    const now = jobs.map(nowOf);
    expect(now[1]!.items).toEqual({ left: 1, open: 1, good: 1, bad: 0 });
    step(graph, now, event("f1/m[1]", "running", "waiting", { attempt: 1, due_ms: 9 }));
    expect(now[1]!.items).toEqual({ left: 1, open: 1, good: 1, bad: 0 });
    step(graph, now, event("f1/m[1]", "running", "failed", { attempt: 2 }));
    step(graph, now, event("f1/m[2]", "waiting", "ready"));
    expect(now[1]!.items).toEqual({ left: 0, open: 1, good: 1, bad: 1 });
  });

  test("makes attempts begin, start and end", () => {
    let attempts: Attempt[] = attemptsOf({});
    attempts = stepAttempts(attempts, event("f1/a", "ready", "dispatched", { attempt: 1, worker: "w1", time_ms: 10 }));
    attempts = stepAttempts(attempts, event("f1/a", "dispatched", "running", { attempt: 1, time_ms: 12 }));
    attempts = stepAttempts(attempts, event("f1/a", "running", "waiting", { attempt: 1, time_ms: 20 }));
    attempts = stepAttempts(attempts, event("f1/a", "ready", "dispatched", { attempt: 2, time_ms: 30 }));
    expect(attempts).toMatchObject([
      { attempt: 1, worker: "w1", assignedMs: 10, startedMs: 12, endedMs: 20 },
      { attempt: 2, endedMs: 0 },
    ]);
  });
});

describe("the past", () => {
  const graph = graphOf("f1", jobs);
  const events: ChangeEvent[] = [
    { type: "flow", position: "2.0", time_ms: 100, target: "f1", to: "running" },
    event("f1/a", "waiting", "ready", { time_ms: 100 }),
    event("f1/a", "ready", "dispatched", { time_ms: 110, attempt: 1 }),
    event("f1/a", "dispatched", "succeeded", { time_ms: 150, attempt: 1 }),
    { type: "flow", position: "9.0", time_ms: 200, target: "f1", to: "succeeded" },
  ];

  test("begins with all jobs waiting", () => {
    expect(new Past(graph, events, 100).after(0).now).toEqual(graph.nodes.map((node) => newborn(node, 100)));
  });

  test("is the same by every way that leads there", () => {
    const forward = new Past(graph, events, 100);
    const back = new Past(graph, events, 100);
    back.after(events.length);
    for (let count = 0; count <= events.length; count++) {
      const fresh = new Past(graph, events, 100).after(count);
      expect(forward.after(count)).toMatchObject({ now: fresh.now, flowState: fresh.flowState });
      expect(back.after(events.length - 1).now).toEqual(new Past(graph, events, 100).after(events.length - 1).now);
      expect(back.after(count).now).toEqual(fresh.now);
    }
  });

  test("a moment that was given stays as it was", () => {
    const past = new Past(graph, events, 100);
    const moment = past.after(2);
    past.after(4);
    expect(moment.now[0]!.state).toBe("ready");
  });

  test("knows how much happened by a time, and says what", () => {
    const past = new Past(graph, events, 100);
    expect([99, 100, 149, 150, 999].map((ms) => past.countAt(ms))).toEqual([0, 2, 3, 4, 5]);
    expect(past.after(5).flowState).toBe("succeeded");
    expect(sentenceOf(events[2]!)).toBe("a: ready → dispatched");
    expect(sentenceOf(event("f1/a", "running", "failed", { cause: "exit", worker: "w1", attempt: 2 }))).toBe(
      "a: running → failed (exit) on w1, attempt 2",
    );
  });
});

describe("the critical path", () => {
  const took = (ms: number): Attempt[] => [
    { attempt: 1, worker: "", outcome: "ok", assignedMs: 0, startedMs: 100, endedMs: 100 + ms },
  ];

  test("is the chain that took longest, not the one with the most jobs", () => {
    const diamond = graphOf("f1", [
      { job: "f1/a" },
      { job: "f1/b", parents: ["a"] },
      { job: "f1/c", parents: ["b"] },
      { job: "f1/d", parents: ["a"] },
    ]);
    expect(criticalPath(diamond, [took(1), took(2), took(2), took(9)], 0)).toEqual([0, 3]);
    expect(criticalPath(diamond, [took(1), took(5), took(5), took(9)], 0)).toEqual([0, 1, 2]);
  });

  test("goes to a job by the longest of the ways there", () => {
    const join = graphOf("f1", [
      { job: "f1/a" },
      { job: "f1/b", parents: ["a"] },
      { job: "f1/c", parents: ["a"] },
      { job: "f1/d", parents: ["b", "c"] },
    ]);
    expect(criticalPath(join, [took(1), took(2), took(9), took(1)], 0)).toEqual([0, 2, 3]);
    expect(criticalPath(join, [took(1), took(9), took(2), took(1)], 0)).toEqual([0, 1, 3]);
  });

  test("counts what runs so far", () => {
    const two = graphOf("f1", [{ job: "f1/a" }, { job: "f1/b" }]);
    const open: Attempt[] = [{ attempt: 1, worker: "", outcome: "open", assignedMs: 0, startedMs: 100, endedMs: 0 }];
    expect(criticalPath(two, [took(50), open], 120)).toEqual([0]);
    expect(criticalPath(two, [took(50), open], 200)).toEqual([1]);
  });
});
