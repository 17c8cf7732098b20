import { expect, it } from "vitest";

import { healthyShare, stretchesOf } from "./health";

const life = [
  { type: "flow", time_ms: 0, to: "running" },
  { type: "job", time_ms: 0, to: "ready" },
  { type: "job", time_ms: 10, to: "dispatched" },
  { type: "job", time_ms: 12, to: "running" },
  { type: "service", time_ms: 20, to: "healthy" },
  { type: "service", time_ms: 60, to: "unhealthy" },
  { type: "job", time_ms: 70, to: "waiting" },
  { type: "job", time_ms: 80, to: "running" },
  { type: "service", time_ms: 80, to: "healthy" },
];

it("a life is stretches without gaps", () => {
  expect(stretchesOf(life, 100)).toEqual([
    { health: "down", from: 0, to: 10 },
    { health: "unhealthy", from: 10, to: 20 },
    { health: "healthy", from: 20, to: 60 },
    { health: "unhealthy", from: 60, to: 70 },
    { health: "down", from: 70, to: 80 },
    { health: "healthy", from: 80, to: 100 },
  ]);
});

it("the share of health is by time", () => {
  expect(healthyShare(stretchesOf(life, 100))).toBe(0.6);
  expect(healthyShare([])).toBe(0);
});
