import { expect, test } from "vitest";

import { windowOf } from "./rows";

test("only what is seen, and a little more", () => {
  expect(windowOf(1000, 40, 4000, 600)).toEqual({ first: 92, end: 123, padTop: 3680, height: 40_000 });
  expect(windowOf(3, 40, 0, 600)).toMatchObject({ first: 0, end: 3 });
});

test("a list of a million rows is reached to its end", () => {
  const end = windowOf(1_000_000, 40, 12_000_000 - 600, 600);
  expect(end.end).toBe(1_000_000);
  expect(end.height).toBe(12_000_000);
  expect(end.padTop + (end.end - end.first) * 40).toBeCloseTo(12_000_000, -2);
  expect(windowOf(1_000_000, 40, 0, 600)).toMatchObject({ first: 0, padTop: 0 });
});
