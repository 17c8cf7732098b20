import { describe, expect, it } from "vitest";

import { scrollTopOf, windowOf } from "./log_window";

const VIEW = 400;

describe("the window on a log", () => {
  it("moves with the scroll bar, pixel by pixel, in a short log", () => {
    expect(windowOf(0, 100, VIEW)).toEqual({ first: 0, overPx: 0, heightPx: 1900, atEnd: false });
    expect(windowOf(25, 100, VIEW)).toMatchObject({ first: 1, overPx: 6 });
    expect(windowOf(1500, 100, VIEW)).toMatchObject({ first: 78, atEnd: true });
  });
  it("reaches the last line of a log that is higher than any element may be", () => {
    const lines = 5_000_000;
    const end = windowOf(8_000_000 - VIEW, lines, VIEW);
    expect(end.heightPx).toBe(8_000_000);
    expect(end.atEnd).toBe(true);
    expect(end.first).toBe(Math.floor((lines * 19 - VIEW) / 19));
  });
  it("brings any line into sight", () => {
    for (const lines of [100, 5_000_000])
      for (const line of [0, 50, 99, lines - 1]) {
        const seen = windowOf(scrollTopOf(line, lines, VIEW), lines, VIEW);
        expect(seen.first).toBeLessThanOrEqual(line);
        expect(seen.first + VIEW / 19 + 1).toBeGreaterThan(line);
      }
  });
  it("does not scroll what fits", () => {
    expect(windowOf(0, 3, VIEW)).toEqual({ first: 0, overPx: 0, heightPx: 57, atEnd: true });
    expect(scrollTopOf(2, 3, VIEW)).toBe(0);
  });
});
