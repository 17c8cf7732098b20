import { expect, test } from "vitest";

import { RING_TICKS, Ring, gauge, mean, rate, seriesOf, type Tick } from "./ring";

const tick = (second: number, numbers: Record<string, number>): Tick => ({ time_ms: second * 1000, numbers });

test("rates are differences of two ticks", () => {
  const ticks = [tick(1, { done: 10 }), tick(2, { done: 30 }), tick(4, { done: 40 })];
  expect(seriesOf(ticks, [rate("done")])).toEqual([
    [2, 4],
    [20, 5],
  ]);
});

test("a counter that starts again is no negative rate", () => {
  expect(seriesOf([tick(1, { done: 10 }), tick(2, { done: 3 })], [rate("done")])[1]).toEqual([null]);
});

test("means are of what came between", () => {
  const ticks = [tick(1, { ms: 100, n: 1 }), tick(2, { ms: 400, n: 3 }), tick(3, { ms: 400, n: 3 })];
  expect(seriesOf(ticks, [mean("ms", "n")])[1]).toEqual([150, null]);
});

test("a time without ticks is a gap, not a line", () => {
  const [times, values] = seriesOf([tick(1, { a: 1 }), tick(60, { a: 5 }), tick(61, { a: 6 })], [gauge("a")]);
  expect(times).toEqual([2, 60, 61]);
  expect(values).toEqual([null, null, 6]);
});

test("the ring keeps ten minutes, in order", () => {
  const ring = new Ring();
  for (let second = 1; second <= RING_TICKS + 50; second++) ring.add(tick(second, {}));
  ring.add(tick(3, {}));
  expect(ring.ticks.length).toBe(RING_TICKS);
  expect(ring.ticks[0]!.time_ms).toBe(51_000);
});
