import { expect, test } from "vitest";

import { RING_TICKS, Ring, gauge, mean, merged, rate, seriesOf, spans, type Tick } from "./ring";

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
  const [times, values] = seriesOf([tick(1, { a: 1 }), tick(600, { a: 5 }), tick(601, { a: 6 })], [gauge("a")]);
  expect(times).toEqual([2, 600, 601]);
  expect(values).toEqual([null, null, 6]);
});

test("minutes of the server and seconds of the page are one line", () => {
  const past = [tick(0, { n: 0 }), tick(60, { n: 60 }), tick(120, { n: 60 }), tick(125, { n: 99 })];
  const live = [tick(121, { n: 61 }), tick(122, { n: 62 })];
  const [short, hour, day] = spans;
  expect(merged(past, live, short!, 122_000).map((each) => each.time_ms / 1000)).toEqual([0, 60, 120, 121, 122]);
  expect(merged(past, live, hour!, 122_000).map((each) => each.time_ms / 1000)).toEqual([0, 60, 120, 122]);
  expect(merged(past, [], day!, 125_000).map((each) => each.time_ms / 1000)).toEqual([0, 125]);
  expect(seriesOf(merged(past, live, short!, 122_000), [rate("n")])[1]).toEqual([1, 0, 1, 1]);
});

test("what is older than the span is left out, but for the point that a rate begins with", () => {
  const past = [tick(0, {}), tick(3600, {}), tick(3660, {}), tick(7200, {})];
  expect(merged(past, [], spans[1]!, 7_260_000).map((each) => each.time_ms / 1000)).toEqual([3600, 3660, 7200]);
});

test("the ring keeps ten minutes, in order", () => {
  const ring = new Ring();
  for (let second = 1; second <= RING_TICKS + 50; second++) ring.add(tick(second, {}));
  ring.add(tick(3, {}));
  expect(ring.ticks.length).toBe(RING_TICKS);
  expect(ring.ticks[0]!.time_ms).toBe(51_000);
});
