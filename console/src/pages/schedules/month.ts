// A month of a schedule as weeks of days, in its time zone: what ran, what did not, what is to come.
import type { FlowView, Schemas } from "../../api/client";

export interface Run {
  ms: number; // its slot
  flow: string;
  state: string;
}

export interface Gap {
  what: string; // missed, overlap, paused, …
  count: number;
}

export interface Day {
  key: string; // 2026-11-19
  number: number;
  inMonth: boolean;
  runs: Run[]; // oldest first
  gaps: Gap[];
  ahead: number[]; // slots to come
}

export interface MonthId {
  year: number;
  month: number; // 1 to 12
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) formats.set(zone, (format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" })));
  return format;
}

/** The day of a moment in a zone, as 2026-11-19. */
export const dayOf = (ms: number, zone: string): string => formatOf(zone).format(ms);

export function monthOf(ms: number, zone: string): MonthId {
  const [year = 0, month = 1] = dayOf(ms, zone).split("-").map(Number);
  return { year, month };
}

export function monthPlus({ year, month }: MonthId, months: number): MonthId {
  const at = year * 12 + month - 1 + months;
  return { year: Math.floor(at / 12), month: (at % 12) + 1 };
}

/** Days as numbers since 1970, which have no zone and no hour that is skipped. */
const dayNumber = ({ year, month }: MonthId, day: number): number => Date.UTC(year, month - 1, day) / 86_400_000;
const keyOfNumber = (number: number): string => new Date(number * 86_400_000).toISOString().slice(0, 10);

/** A moment that is before the first of the month in every zone. */
export const beforeMonth = (id: MonthId): number => (dayNumber(id, 1) - 1) * 86_400_000;

/** Whole weeks, Monday first. */
function daysOf(id: MonthId): Day[] {
  const first = dayNumber(id, 1);
  const weekday = (new Date(first * 86_400_000).getUTCDay() + 6) % 7;
  const last = dayNumber(monthPlus(id, 1), 1) - 1;
  const days: Day[] = [];
  for (let at = first - weekday; at <= last || days.length % 7 !== 0; at++) {
    const key = keyOfNumber(at);
    days.push({ key, number: Number(key.slice(8)), inMonth: at >= first && at <= last, runs: [], gaps: [], ahead: [] });
  }
  return days;
}

export function weeksOf(
  id: MonthId, zone: string, flows: readonly FlowView[], slots: readonly Schemas["slot"][], ahead: readonly Schemas["moment"][],
): Day[][] {
  const days = daysOf(id);
  const byKey = new Map(days.map((day) => [day.key, day]));
  for (const { flow, state, slot_ms } of flows)
    if (flow && slot_ms) byKey.get(dayOf(slot_ms, zone))?.runs.push({ ms: slot_ms, flow, state: state ?? "unknown" });
  for (const { what, slot_ms, count } of slots)
    if (what && what !== "fired" && slot_ms) byKey.get(dayOf(slot_ms, zone))?.gaps.push({ what, count: count ?? 1 });
  for (const { ms } of ahead) if (ms) byKey.get(dayOf(ms, zone))?.ahead.push(ms);
  for (const day of days) day.runs.sort((a, b) => a.ms - b.ms);
  return Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));
}

/** The states of the runs of a day with how many are in each, the most first. */
export function countsOf(runs: readonly Run[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { state } of runs) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
