import { expect, it } from "vitest";

import { countsOf, dayOf, monthOf, monthPlus, weeksOf } from "./month";

const at = (text: string) => new Date(text).getTime();

it("a day is that of the zone", () => {
  expect(dayOf(at("2026-11-19T23:30:00Z"), "UTC")).toBe("2026-11-19");
  expect(dayOf(at("2026-11-19T23:30:00Z"), "Europe/Berlin")).toBe("2026-11-20");
  expect(monthOf(at("2026-12-31T23:30:00Z"), "Europe/Berlin")).toEqual({ year: 2027, month: 1 });
});

it("months go on over the end of a year", () => {
  expect(monthPlus({ year: 2026, month: 12 }, 1)).toEqual({ year: 2027, month: 1 });
  expect(monthPlus({ year: 2026, month: 1 }, -1)).toEqual({ year: 2025, month: 12 });
  expect(monthPlus({ year: 2026, month: 6 }, -18)).toEqual({ year: 2024, month: 12 });
});

it("weeks are whole and begin on Monday", () => {
  const weeks = weeksOf({ year: 2026, month: 11 }, "UTC", [], [], []);
  expect(weeks.every((week) => week.length === 7)).toBe(true);
  expect(weeks[0]?.[0]?.key).toBe("2026-10-26");
  expect(weeks.flat().filter((day) => day.inMonth).length).toBe(30);
  expect(weeks.at(-1)?.[6]?.key).toBe("2026-12-06");
});

it("runs, gaps and slots to come are on the days of their slots", () => {
  const flows = [
    { flow: "f2", state: "failed", slot_ms: at("2026-03-29T22:30:00Z") }, // the 30th in Berlin, whose clocks went forward
    { flow: "f1", state: "succeeded", slot_ms: at("2026-03-28T22:30:00Z") },
    { flow: "f3", state: "running" }, // of no slot
  ];
  const slots = [
    { what: "missed", slot_ms: at("2026-03-10T01:30:00Z"), count: 4 },
    { what: "fired", slot_ms: at("2026-03-28T22:30:00Z"), flow: "f1" },
  ];
  const days = weeksOf({ year: 2026, month: 3 }, "Europe/Berlin", flows, slots, [{ ms: at("2026-03-30T22:30:00Z") }]).flat();
  const day = (key: string) => days.find((one) => one.key === key);
  expect(day("2026-03-28")?.runs.map((run) => run.flow)).toEqual(["f1"]);
  expect(day("2026-03-30")?.runs.map((run) => run.flow)).toEqual(["f2"]);
  expect(day("2026-03-10")?.gaps).toEqual([{ what: "missed", count: 4 }]);
  expect(day("2026-03-31")?.ahead).toEqual([at("2026-03-30T22:30:00Z")]);
  expect(days.flatMap((one) => one.gaps).length).toBe(1);
});

it("states are counted, the most first", () => {
  const run = (state: string) => ({ ms: 1, flow: "f1", state });
  expect(countsOf([run("failed"), run("succeeded"), run("succeeded")])).toEqual([["succeeded", 2], ["failed", 1]]);
});
