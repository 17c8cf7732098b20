import { expect, test } from "vitest";

import { Pager } from "./pager";

/** A list of numbers in pages of ten, that tells which pages were asked for. */
function listOf(count: number) {
  const asked: (string | undefined)[] = [];
  const source = { count };
  const pager = new Pager<number>(
    (cursor) => {
      asked.push(cursor);
      const start = Number(cursor ?? 0);
      const end = Math.min(start + 10, source.count);
      return Promise.resolve({
        rows: Array.from({ length: end - start }, (_, i) => start + i),
        cursor: end < source.count ? String(end) : undefined,
      });
    },
    () => {},
  );
  return { pager, asked, source };
}
const settled = () => new Promise((done) => setImmediate(done));

test("pages are asked for when they are wanted", async () => {
  const { pager, asked } = listOf(25);
  await settled();
  expect([pager.known, pager.complete]).toEqual([10, false]);
  pager.want(0, 5);
  await settled();
  expect(asked).toEqual([undefined]);
  pager.want(5, 12);
  pager.want(6, 13);
  await settled();
  expect(asked).toEqual([undefined, "10"]);
  pager.want(15, 25);
  await settled();
  expect([pager.known, pager.complete, pager.row(24)]).toEqual([25, true, 24]);
});

test("memory is constant over a hundred thousand rows, and what was forgotten comes back", async () => {
  const { pager, asked } = listOf(100_000);
  await settled();
  for (let at = 0; at < 20_000; at += 10) {
    pager.want(at, at + 20);
    await settled();
  }
  expect(pager.known).toBeGreaterThan(20_000);
  expect(pager.rowsKept).toBeLessThanOrEqual(130);
  expect(pager.row(55)).toBeUndefined();
  pager.want(50, 60);
  await settled();
  expect(pager.row(55)).toBe(55);
  expect(asked.filter((cursor) => cursor === "50").length).toBe(2);
});

test("a refresh that finds fewer rows moves those behind", async () => {
  const { pager, source } = listOf(30);
  await settled();
  pager.want(0, 20);
  await settled();
  source.count = 15;
  pager.refresh(10, 20);
  await settled();
  expect(pager.known).toBe(15);
});

test("a reset begins anew, and what is shown stays until then", async () => {
  const { pager, source } = listOf(25);
  await settled();
  source.count = 7;
  pager.reset();
  expect(pager.known).toBe(10);
  await settled();
  expect([pager.known, pager.complete]).toEqual([7, true]);
});

test("an answer to what was asked before a reset comes too late", async () => {
  const answers: ((rows: number[]) => void)[] = [];
  const pager = new Pager<number>(
    () => new Promise((done) => answers.push((rows) => done({ rows, cursor: undefined }))),
    () => {},
  );
  pager.reset();
  answers[1]!([1, 2]);
  answers[0]!([9, 9, 9]);
  await settled();
  expect([pager.known, pager.row(0)]).toEqual([2, 1]);
});
