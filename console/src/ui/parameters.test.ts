import { describe, expect, it } from "vitest";

import { parametersOf, problemOf, sampleOf, valuesOf } from "./parameters";

const file = {
  params: {
    day: { type: "date", min: "2026-01-01", description: "which" },
    n: { type: "integer", min: 1, max: 9, default: 3 },
    size: { choices: ["small", "large"], default: "small" },
    tag: { pattern: "v[0-9]+" },
    list: { type: "list", default: ["a", 1] },
    dry: false,
    who: null,
    slot: "${schedule.date}",
  },
};
const named = (name: string) => parametersOf(file).find((one) => one.name === name)!;

describe("parameters of a file", () => {
  it("have the type that the file says, or that of their default", () => {
    expect(parametersOf(file).map((one) => [one.name, one.type, one.value, one.needed])).toEqual([
      ["day", "date", "", true],
      ["n", "integer", "3", false],
      ["size", "string", "small", false],
      ["tag", "string", "", true],
      ["list", "list", '["a",1]', false],
      ["dry", "boolean", "false", false],
      ["who", "string", "", true],
      ["slot", "string", "", true],
    ]);
    expect(parametersOf(file, { n: 7, list: [2] }).filter((one) => ["n", "list"].includes(one.name)).map((one) => one.value)).toEqual(["7", "[2]"]);
    expect(parametersOf({ params: 5 })).toEqual([]);
    expect(parametersOf(null)).toEqual([]);
  });

  it("are judged as the server does", () => {
    expect(problemOf(named("tag"), "v12")).toBe("");
    expect(problemOf(named("tag"), "x")).toBe("It must fit v[0-9]+");
    expect(problemOf(named("list"), "[1]")).toBe("");
    expect(problemOf(named("list"), "{}")).toContain("A list in JSON");
    expect(problemOf(named("list"), "[")).toBe("This is not JSON yet.");
    expect(problemOf({ ...named("who"), type: "duration" }, "1h30m")).toBe("");
    expect(problemOf({ ...named("who"), type: "duration" }, "90")).toContain("duration");
    expect(problemOf({ ...named("who"), type: "time" }, "2026-03-31T08:00:00Z")).toBe("");
    expect(problemOf({ ...named("who"), type: "time" }, "2026-03-31")).toContain("time");
  });

  it("have a value to check a file with, where one can be made up", () => {
    expect(parametersOf(file).map(sampleOf)).toEqual(["2026-01-01", "3", "small", undefined, '["a",1]', "false", "x", "x"]);
  });

  it("are sent as they were typed, and left to their defaults where nothing was", () => {
    expect(valuesOf([named("n"), named("who"), named("list")], { n: "", who: "" })).toEqual({ who: "", list: '["a",1]' });
  });
});
