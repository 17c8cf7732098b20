import { describe, expect, it } from "vitest";

import { LogText } from "./log_text";

const bytes = (text: string) => new TextEncoder().encode(text);

function logOf(...parts: string[]): LogText {
  const log = new LogText();
  for (const part of parts) log.append(bytes(part));
  return log;
}
const linesOf = (log: LogText) => Array.from({ length: log.lineCount }, (_, line) => log.plain(line));

describe("lines", () => {
  it("are found across the parts in which they come", () => {
    expect(linesOf(logOf("on", "e\ntw", "o\n", "three"))).toEqual(["one", "two", "three"]);
    expect(linesOf(logOf(""))).toEqual([]);
    expect(linesOf(logOf("\n\n"))).toEqual(["", ""]);
  });
  it("do not cut a character that comes in two parts", () => {
    const whole = bytes("grün\n");
    const log = new LogText();
    log.append(whole.subarray(0, 3));
    log.append(whole.subarray(3));
    expect(linesOf(log)).toEqual(["grün"]);
  });
  it("go on in the next row when they are endless, between characters", () => {
    const log = logOf("ü".repeat(20_000));
    expect(log.lineCount).toBe(3);
    expect(linesOf(log).join("")).toBe("ü".repeat(20_000));
    expect(log.plain(0)).not.toContain("\ufffd");
  });
  it("cross the blocks in which bytes are kept", () => {
    const line = `${"x".repeat(998)}é`; // 1,000 bytes and its end: no block ends at a line
    const log = logOf(`${line}\n`.repeat(2500));
    expect(log.lineCount).toBe(2500);
    for (let at = 0; at < 2500; at++) expect(log.raw(at)).toBe(line);
  });
});

describe("styles", () => {
  it("go over line ends until they are taken back", () => {
    const log = logOf("\x1b[31mred\nst", "ill\n\x1b[0mplain\n", "end\n");
    expect(log.spans(0)).toEqual([{ text: "red", style: { fg: 1 } }]);
    expect(log.spans(1)).toEqual([{ text: "still", style: { fg: 1 } }]);
    expect(log.spans(2)).toEqual([{ text: "plain", style: {} }]);
    expect(log.spans(3)).toEqual([{ text: "end", style: {} }]);
  });
  it("are not seen by search", () => {
    expect(logOf("a\x1b[1mb\x1b[0mc\n").plain(0)).toBe("abc");
  });
});

describe("size", () => {
  it("takes 100 MB in seconds, and any line of it at once", () => {
    const part = bytes("2026-01-31 12:00:00 a line of an ordinary log, with a number 12345\n".repeat(1000));
    const log = new LogText();
    const began = performance.now();
    while (log.byteCount < 100e6) log.append(part);
    const tookMs = performance.now() - began;
    expect(log.lineCount).toBe((log.byteCount / part.length) * 1000);
    expect(log.plain(log.lineCount - 1)).toContain("12345");
    expect(tookMs).toBeLessThan(10_000);
  });
});
