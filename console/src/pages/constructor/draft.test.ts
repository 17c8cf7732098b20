import { describe, expect, it } from "vitest";

import { addJob, ancestorsOf, circleOf, connect, disconnect, draftOf, duplicateJobs, edgesOf, fileOf, parentsOf, removeJobs, renameJob, setJobKey, whyNoEdge, type Draft } from "./draft";
import { arrange, layersOf } from "./layout";
import { begin, change, redo, undo } from "./history";
import { problemsOf } from "./problems";
import { templates } from "./templates";
import { readText, yamlOf } from "./yaml";

const diamond = (): Draft =>
  draftOf({ name: "d", jobs: { a: "echo a", b: { needs: "a", run: "x" }, c: { needs: ["a"], run: "x" }, d: { needs: ["b", "c"], run: "echo ${jobs.b.outputs.n}" } } }, arrange);
const job = (draft: Draft, name: string) => draft.jobs.find((one) => one.name === name)!;

describe("changes of a draft", () => {
  it("an edge is a name in needs: one is a text, several are a list, none is no key", () => {
    let draft = diamond();
    draft = disconnect(draft, { from: "b", to: "d" });
    expect(job(draft, "d").keys["needs"]).toBe("c");
    draft = disconnect(draft, { from: "c", to: "d" });
    expect("needs" in job(draft, "d").keys).toBe(false);
    draft = connect(connect(draft, "a", "d"), "c", "d");
    expect(job(draft, "d").keys["needs"]).toEqual(["a", "c"]);
  });

  it("no edge closes a circle, leads to its own job or is there twice", () => {
    const draft = diamond();
    expect(whyNoEdge(draft, "d", "a")).toContain("circle");
    expect(whyNoEdge(draft, "a", "a")).toContain("itself");
    expect(whyNoEdge(draft, "a", "b")).toContain("already");
    expect(whyNoEdge(draft, "a", "d")).toBeUndefined();
    expect([...ancestorsOf(draft, "d")].sort()).toEqual(["a", "b", "c", "d"]);
  });

  it("a job that is renamed is renamed wherever others speak of it", () => {
    let draft = setJobKey(diamond(), "d", ["inputs"], { "x.csv": "b/out.csv", "y.csv": "c/b.csv" });
    draft = renameJob(draft, "b", "new-b");
    expect(parentsOf(job(draft, "d"))).toEqual(["new-b", "c"]);
    expect(job(draft, "d").keys["run"]).toBe('echo ${jobs["new-b"].outputs.n}');
    expect(job(draft, "d").keys["inputs"]).toEqual({ "x.csv": "new-b/out.csv", "y.csv": "c/b.csv" });
    draft = renameJob(draft, "new-b", "b");
    expect(job(draft, "d").keys["run"]).toBe("echo ${jobs.b.outputs.n}");
  });

  it("removing a job takes its edges along", () => {
    const draft = removeJobs(diamond(), new Set(["b"]));
    expect(edgesOf(draft)).toEqual([{ from: "a", to: "c" }, { from: "c", to: "d" }]);
  });

  it("copies keep edges among themselves and from outside", () => {
    const [draft, copies] = duplicateJobs(diamond(), new Set(["b", "d"]));
    expect([...copies]).toEqual(["b-2", "d-2"]);
    expect(parentsOf(job(draft, "b-2"))).toEqual(["a"]);
    expect(parentsOf(job(draft, "d-2"))).toEqual(["b-2", "c"]);
  });

  it("a new job gets a name that is free", () => {
    const [one, first] = addJob(diamond(), { x: 0, y: 0 });
    const [, second] = addJob(one, { x: 0, y: 0 });
    expect([first, second]).toEqual(["job", "job-2"]);
  });

  it("an object that loses its last key goes with it", () => {
    const draft = setJobKey(setJobKey(diamond(), "a", ["backoff", "base"], "2s"), "a", ["backoff", "base"], undefined);
    expect("backoff" in job(draft, "a").keys).toBe(false);
  });
});

describe("layout", () => {
  it("puts every job below all that it needs, and no two on one another", () => {
    for (const { file } of templates) {
      const draft = arrange(draftOf(file, arrange));
      for (const { from, to } of edgesOf(draft)) expect(job(draft, to).y).toBeGreaterThan(job(draft, from).y);
      expect(new Set(draft.jobs.map(({ x, y }) => `${x},${y}`)).size).toBe(draft.jobs.length);
    }
    expect(layersOf(diamond())).toEqual([["a"], ["b", "c"], ["d"]]);
  });

  it("jobs on a circle have a place, too", () => {
    const draft = draftOf({ jobs: { a: { needs: "b", run: "x" }, b: { needs: "a", run: "x" }, c: "y" } }, arrange);
    expect(draft.jobs.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
    expect(circleOf(draft)).toEqual(["a", "b"]);
  });
});

describe("history", () => {
  it("changes with the same mark are one step", () => {
    let history = begin("a");
    history = change(change(change(history, "ab", "typing"), "abc", "typing"), "x", "other");
    history = undo(undo(history));
    expect(history.now).toBe("a");
    expect(redo(redo(history)).now).toBe("x");
    expect(undo(undo(begin("z"))).now).toBe("z");
  });
});

describe("files", () => {
  it("YAML and back is the same file", () => {
    for (const { file } of templates) expect(readText(yamlOf(fileOf(draftOf(file, arrange))))).toEqual(file);
    const odd = { jobs: { a: { run: "yes", env: { A: "1", B: "true", C: "on", D: "- x", E: "", F: "a: b # c", G: "  x\ny\n" } } } };
    expect(readText(yamlOf(odd))).toEqual(odd);
  });

  it("what cannot be read is told with its line", () => {
    expect(() => readText("jobs:\n  a: [1,\n")).toThrowError();
    try {
      readText("a: 1\nb: [1, 2\nc: 3\n");
    } catch (error) {
      expect((error as { line: number }).line).toBeGreaterThan(1);
    }
    expect(() => draftOf([], arrange)).toThrowError("A flow file is an object");
    expect(() => draftOf({ jobs: { a: 3 } }, arrange)).toThrowError("The job `a`");
  });

  it("jobs keep their places when the text beside them changes", () => {
    const before = diamond();
    before.jobs[0]!.x = 4321;
    const after = draftOf({ jobs: { a: "other", e: { needs: "a", run: "y" } } }, arrange, before);
    expect(job(after, "a").x).toBe(4321);
    expect(Number.isFinite(job(after, "e").x)).toBe(true);
  });
});

describe("problems", () => {
  const texts = (file: Parameters<typeof draftOf>[0]) => problemsOf(draftOf(file, arrange)).map((problem) => problem.text).join("\n");

  it("templates have none", () => {
    for (const { file } of templates) expect(texts(file)).toBe("");
  });

  it("names, work, keys, parents, circles, units and files are looked at", () => {
    expect(texts({ jobs: {} })).toContain("at least one job");
    expect(texts({ jobs: { "a/b": "x" } })).toContain("none of / # ~ [");
    expect(texts({ jobs: { a: {} } })).toContain("does nothing yet");
    expect(texts({ jobs: { a: { run: "x", noop: true } } })).toContain("only one of run and noop");
    expect(texts({ jobs: { a: { run: "x", retrys: 3 } } })).toContain("no key `retrys`");
    expect(texts({ jobs: { a: { run: "x", needs: "b" } } })).toContain("needs b, which is not there");
    expect(texts({ jobs: { a: { run: "x", needs: ["f11/b"] } } })).toBe("");
    expect(texts({ jobs: { a: { run: "x", needs: "b" }, b: { run: "x", needs: "a" } } })).toContain("in a circle: a, b");
    expect(texts({ jobs: { a: { run: "x", timeout: 30 } } })).toContain("needs a unit, like 30s");
    expect(texts({ jobs: { a: { script: "x.py" } } })).toContain("only the command line can send");
    expect(texts({ jobz: 1, jobs: { a: "x" } })).toContain("did you mean `jobs`");
  });
});
