// A job in a few words, for its card.
import { isObject, type Job, type Json } from "./draft";
import { WORK } from "./fields";

export interface Summary {
  kind: string;
  text: string;
  marks: string[]; // what is special about it
}

const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";

function plain(value: Json | undefined): string {
  if (value === undefined || value === null || typeof value === "boolean") return "";
  if (Array.isArray(value)) return value.map(String).join(" ");
  if (!isObject(value)) return firstLine(String(value));
  return plain(Object.values(value)[0]);
}

export function summaryOf(job: Job): Summary {
  const kind = WORK.find((key) => job.keys[key] !== undefined) ?? "nothing";
  const marks: string[] = [];
  if (job.keys["foreach"] !== undefined) marks.push("for each");
  if (job.keys["when"] !== undefined) marks.push("if");
  if (job.keys["approval"] !== undefined) marks.push("approval");
  if (job.keys["compensate"] !== undefined) marks.push("undo");
  if (job.keys["exclusive"] === true) marks.push("exclusive");
  return { kind, text: plain(job.keys[kind]), marks };
}
