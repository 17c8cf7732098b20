import { describe, expect, it } from "vitest";

import { PLAIN } from "./ansi";
import { findAll, LogSearch, markSpans } from "./log_search";
import { LogText } from "./log_text";

function logOf(text: string): LogText {
  const log = new LogText();
  log.append(new TextEncoder().encode(text));
  return log;
}

describe("search", () => {
  it("finds every place, also of lines that come later", () => {
    const log = logOf("error one\nfine\nError, error\nerr");
    const search = new LogSearch(log, "error");
    expect(search.step(1, false)).toBe(true);
    expect(search.step(10, false)).toBe(false);
    expect(search.matches.map((match) => [match.line, match.from])).toEqual([[0, 0], [2, 0], [2, 7]]);
    log.append(new TextEncoder().encode("or at last\n"));
    search.step(10, true);
    expect(search.matches.at(-1)).toEqual({ line: 3, from: 0, to: 5 });
  });
  it("takes upper case in the term at its word", () => {
    const search = new LogSearch(logOf("error\nError\n"), "Error");
    search.step(10, true);
    expect(search.matches.map((match) => match.line)).toEqual([1]);
  });
  it("sees through colours", () => {
    const search = new LogSearch(logOf("to\x1b[31mget\x1b[0mher\n"), "together");
    search.step(10, true);
    expect(search.matches.length).toBe(1);
  });
  it("knows which match is next from a line on", () => {
    const search = new LogSearch(logOf("x\n\nx\n\nx\n"), "x");
    search.step(10, true);
    expect([0, 1, 2, 3, 5].map((line) => search.indexFrom(line))).toEqual([0, 1, 1, 2, 0]);
  });
  it("finds nothing for nothing", () => {
    expect(findAll("abc", "", false)).toEqual([]);
  });
});

describe("marks", () => {
  it("cut spans where matches begin and end, and tell the current one", () => {
    const spans = [{ text: "to", style: PLAIN }, { text: "get", style: { fg: 1 } }, { text: "her together", style: PLAIN }];
    const marked = markSpans(spans, "together", { line: 0, from: 9, to: 17 });
    expect(marked.map((span) => [span.text, span.mark, span.current])).toEqual([
      ["to", true, false],
      ["get", true, false],
      ["her", true, false],
      [" ", false, false],
      ["together", true, true],
    ]);
    expect(marked[1]?.style).toEqual({ fg: 1 });
  });
});
