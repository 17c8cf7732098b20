import { expect, test } from "vitest";

import { LogMarks } from "./log_marks";

const line = (offset: number, bytes: number, stream: string, time_ms: number) => `${JSON.stringify({ offset, bytes, stream, time_ms })}\n`;

test("each byte belongs to the piece that it came in", () => {
  const marks = new LogMarks();
  marks.append(line(0, 4, "out", 10) + line(4, 6, "err", 20));
  expect(marks.at(0)).toMatchObject({ stream: "out", time_ms: 10 });
  expect(marks.at(3)!.stream).toBe("out");
  expect(marks.at(4)!.stream).toBe("err");
  expect(marks.at(9)!.time_ms).toBe(20);
  expect(marks.at(10)).toBeUndefined();
});

test("a line that came in two parts is one", () => {
  const marks = new LogMarks();
  const text = line(0, 1, "out", 10);
  marks.append(text.slice(0, 7));
  expect(marks.at(0)).toBeUndefined();
  marks.append(text.slice(7));
  expect(marks.at(0)!.time_ms).toBe(10);
  expect(marks.count).toBe(1);
});

test("what is left out of a long log belongs to nothing", () => {
  const marks = new LogMarks();
  marks.append(line(0, 2, "out", 10) + line(100, 2, "out", 20));
  expect(marks.at(50)).toBeUndefined();
});
