import { describe, expect, it } from "vitest";

import { draftOf } from "../constructor/draft";
import { arrange } from "../constructor/layout";
import { problemsOf } from "../constructor/problems";
import { demos } from "./demos";
import { explainEvent, explainJob, reasoning } from "./explain";
import { cascadeDepth, demoFlowOf, parentsLeft, placed, stepped, type DemoFlow } from "./facts";
import { OUTAGE_SHOWN_MS, nextDeed, reached, type Facts } from "./story";
import { unsettled, type Playground } from "./status";

const flow = (): DemoFlow =>
  demoFlowOf("f11", "running", [
    { job: "f11/a", state: "running", attempt: 1, attempts_max: 3, worker: "w1", since_ms: 1000 },
    { job: "f11/b", state: "waiting", parents: ["a"], attempts_max: 3 },
    { job: "f11/c", state: "waiting", parents: ["a", "b"], attempts_max: 3 },
  ]);
const event = (target: string, to: string, more = {}) => ({ type: "job" as const, position: "5.1", time_ms: 2000, target, to, ...more });

describe("demo flows", () => {
  it("can be submitted, and have the shapes that they are called", () => {
    const sizes = Object.fromEntries(demos.map((demo) => [demo.id, draftOf(demo.file, (draft) => arrange(draft)).jobs.length]));
    expect(sizes).toEqual({ crash: 7, simple: 3, diamond: 4, "map-reduce": 8, bipartite: 5, mesh: 7, cascade: 5 });
    for (const demo of demos) expect(problemsOf(draftOf(demo.file, (draft) => arrange(draft)))).toEqual([]);
  });
});

describe("the flow as events change it", () => {
  it("takes events of its own jobs, in place", () => {
    const next = stepped(stepped(flow(), event("f11/a", "succeeded")), event("f12/b", "failed"));
    expect(next.jobs.map((job) => job.state)).toEqual(["succeeded", "waiting", "waiting"]);
    expect(parentsLeft(next, next.jobs[2]!)).toEqual(["b"]);
    expect(stepped(next, { type: "flow", position: "6.0", time_ms: 1, target: "f11", to: "succeeded" }).state).toBe("succeeded");
  });

  it("a retry keeps its due time, a cascade its depth", () => {
    let next = stepped(flow(), event("f11/a", "waiting", { attempt: 1, due_ms: 5000, cause: "exit" }));
    expect(reasoning(next, next.jobs[0]!, 2000, false)).toBe("again in 3.0 s");
    next = stepped(next, event("f11/a", "failed", { cause: "exit" }));
    next = stepped(next, event("f11/b", "failed", { cause: "upstream" }));
    next = stepped(next, event("f11/c", "failed", { cause: "upstream" }));
    expect(next.jobs.map((job) => cascadeDepth(next, job))).toEqual([0, 1, 1]);
    expect(explainJob(next, next.jobs[1]!, 0, false).rule).toBe("The cascade");
  });

  it("explains Kahn's rule with its count, the lease, and what death means", () => {
    const now = flow();
    expect(explainJob(now, now.jobs[2]!, 0, false)).toMatchObject({ rule: "Kahn's rule" });
    expect(explainJob(now, now.jobs[2]!, 0, false).text).toContain("2 of 2: a, b");
    expect(explainJob(now, now.jobs[0]!, 0, false).rule).toBe("The lease");
    expect(explainJob(now, now.jobs[0]!, 0, true).text).toContain("runs on");
    expect(explainEvent(event("f11/a", "ready"))).toContain("Kahn");
  });

  it("places every card", () => {
    expect(new Set(placed(flow().jobs).map(({ x, y }) => `${x},${y}`)).size).toBe(3);
  });
});

describe("the story", () => {
  const running: Playground = { server: "running", since_ms: 0, kills: 2 };
  const facts = (more: Partial<Facts>): Facts => ({ flow: flow(), chosen: true, submitted: true, now: running, killsBefore: 2, streaming: true, ...more });
  const recovery = { records: 9, flows: 1, jobs: 3, attempts_open: 1, attempts_adopted: 1, attempts_again: 0, lost: 0, took_ms: 3, replayed_lsn: 9 };

  it("goes through its seven steps", () => {
    expect(reached(facts({ chosen: false, flow: undefined }))).toBe(0);
    expect(reached(facts({ flow: undefined }))).toBe(1);
    expect(reached(facts({}))).toBe(3);
    expect(reached(facts({ now: { ...running, server: "dead", kills: 3 } }))).toBe(5);
    expect(reached(facts({ now: { ...running, kills: 3, recovery: { ...recovery, attempts_adopted: 0 } } }))).toBe(5);
    expect(reached(facts({ now: { ...running, kills: 3, recovery } }))).toBe(6);
    expect(reached(facts({ now: { ...running, kills: 3, recovery }, flow: { ...flow(), state: "succeeded" } }))).toBe(7);
    expect(reached(facts({ killsBefore: 3, now: { ...running, server: "dead", kills: 3 } }))).toBe(5); // loaded again
    expect(unsettled(recovery)).toBe(0);
  });

  it("does by itself what a person would do", () => {
    expect(nextDeed(facts({ flow: undefined, submitted: false }), 0)).toBe("submit");
    expect(nextDeed(facts({ flow: undefined }), 0)).toBeUndefined();
    expect(nextDeed(facts({}), 0)).toBe("kill");
    const two = demoFlowOf("f11", "running", [{ job: "f11/a", state: "succeeded" }, { job: "f11/b", state: "running", parents: ["a"] }, { job: "f11/c", state: "ready", parents: ["a"] }]);
    expect(nextDeed(facts({ flow: two }), 0)).toBeUndefined(); // not before both branches run
    expect(nextDeed(facts({ flow: stepped(two, event("f11/c", "running")) }), 0)).toBe("kill");
    const late = stepped(stepped(two, event("f11/b", "succeeded")), event("f11/c", "running"));
    expect(nextDeed(facts({ flow: late }), 0)).toBe("kill"); // there was no room for both
    const idle = stepped(flow(), event("f11/a", "ready"));
    expect(nextDeed(facts({ flow: idle }), 0)).toBeUndefined();
    const dead = facts({ now: { ...running, server: "dead", kills: 3 } });
    expect(nextDeed(dead, 10)).toBeUndefined();
    expect(nextDeed(dead, OUTAGE_SHOWN_MS)).toBe("recover");
    expect(nextDeed(facts({ now: { ...running, kills: 3, recovery } }), 0)).toBeUndefined();
  });
});
