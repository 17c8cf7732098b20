import { describe, expect, it } from "vitest";

import schema from "../../../../docs/guides/flows.schema.json";
import { fieldsOf, flowGroups, jobGroups, textOf, valueOf, WORK, type Field } from "./fields";

const find = (fields: Field[], key: string): Field => fields.find((field) => field.key === key)!;
const job = fieldsOf("job");

describe("the inspector's fields", () => {
  it("every key of a job and of a flow is there once, with its description", () => {
    const keys = jobGroups.flatMap((group) => group.fields.map((field) => field.key));
    expect([...keys].sort()).toEqual(Object.keys(schema.$defs.job.properties).sort());
    const flowKeys = flowGroups.flatMap((group) => group.fields.map((field) => field.key));
    expect([...flowKeys, "jobs"].sort()).toEqual(Object.keys(schema.$defs.flow.properties).sort());
    expect(job.every((field) => field.text !== "")).toBe(true);
    expect(jobGroups[0]!.fields.map((field) => field.key)).toEqual(WORK);
  });

  it("kinds follow from the schema", () => {
    const kinds = Object.fromEntries(job.map((field) => [field.key, field.kind]));
    expect(kinds).toMatchObject({ run: "long", needs: "list", env: "map", timeout: "text", retries: "number", exclusive: "truth", on_upstream: "choice", gate: "object", artifacts: "value", foreach: "object", fatal_exit_codes: "list", when: "long" });
    expect(find(job, "timeout").hint).toContain("90s");
    expect(find(find(job, "gate").fields!, "quorum").kind).toBe("number");
    expect(find(find(job, "compensate").fields!, "run").kind).toBe("long");
    expect(find(find(job, "foreach").fields!, "in").kind).toBe("value"); // an expression, a list, or lists by name
  });

  it("the end of a flow has a group, and its jobs are edited as text", () => {
    const end = flowGroups.find((group) => group.title === "Its times and its end")!.fields;
    expect(end.map((field) => [field.key, field.kind])).toEqual([
      ["timeout", "text"],
      ["deadline", "text"],
      ["on_success", "value"],
      ["on_failure", "value"],
      ["finally", "value"],
    ]);
    const jobs = { clean: { run: "rm -rf out" } };
    expect(valueOf(find(end, "finally"), textOf(find(end, "finally"), jobs))).toEqual(jobs);
  });

  it("values become text and text values", () => {
    const round = (key: string, text: string) => valueOf(find(job, key), text);
    expect(round("retries", "3")).toBe(3);
    expect(round("retries", "${params.n}")).toBe("${params.n}");
    expect(round("exclusive", "true")).toBe(true);
    expect(round("run", '["echo", "hi"]')).toEqual(["echo", "hi"]);
    expect(round("run", "[ -f x ] && y")).toBe("[ -f x ] && y");
    expect(round("concurrency", "a\nb")).toEqual(["a", "b"]);
    expect(round("timeout", "")).toBeUndefined();
    expect(() => round("artifacts", "[1,")).toThrowError("not JSON");
    expect(textOf(find(job, "concurrency"), ["a", "b"])).toBe("a\nb");
    expect(textOf(find(job, "run"), ["echo"])).toBe('["echo"]');
  });
});
