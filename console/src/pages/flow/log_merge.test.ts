import { expect, test } from "vitest";

import { LogMarks } from "../job/log_marks";
import { LogText } from "../job/log_text";
import { mergeLogs, type JobLog } from "./log_merge";

function logOf(job: string, pieces: [text: string, timeMs: number, stream?: string][]): JobLog {
  const [log, marks] = [new LogText(), new LogMarks()];
  let offset = 0;
  for (const [text, time_ms, stream = "out"] of pieces) {
    log.append(new TextEncoder().encode(text));
    marks.append(`${JSON.stringify({ offset, bytes: text.length, stream, time_ms })}\n`);
    offset += text.length;
  }
  return { job, log, marks, baseBytes: 0 };
}

test("lines of all jobs stand in the order in which they were written", () => {
  const lines = mergeLogs([
    logOf("a", [["one\n", 10], ["three\n", 30]]),
    logOf("b", [["two\n", 20, "err"], ["four\n", 40]]),
  ]);
  expect(lines.map((line) => `${line.job} ${line.text}`)).toEqual(["a one", "b two", "a three", "b four"]);
  expect(lines[1]).toMatchObject({ isErr: true, line: 0 });
});

test("the lines of one log stay in their order though a clock was set back", () => {
  const lines = mergeLogs([logOf("a", [["one\n", 30], ["two\n", 10]]), logOf("b", [["other\n", 20]])]);
  expect(lines.map((line) => line.text)).toEqual(["other", "one", "two"]);
});
