import { expect, test } from "vitest";

import { LIGHT_MS, Lights } from "./lights";
import { graphOf, newborn, type JobNow } from "./model";

const node = graphOf("f1", [{ job: "f1/a" }]).nodes[0]!;
const before = newborn(node, 0);
const after: JobNow = { ...before, state: "failed", cause: "upstream" };

test("jobs light one by one and are shown as before until then", () => {
  const lights = new Lights();
  lights.cascade(
    [0, 1, 2].map((index) => ({ index, before })),
    1000,
  );
  expect([0, 1, 2].map((index) => lights.shown(index, after, 1000 + LIGHT_MS).state)).toEqual(["failed", "failed", "waiting"]);
  expect(lights.glow(1, 1000 + LIGHT_MS)).toBe(1);
  expect(lights.glow(2, 1000 + LIGHT_MS)).toBe(0);
  expect(lights.shown(2, after, 1000 + 2 * LIGHT_MS).state).toBe("failed");
});

test("a second burst waits for the first", () => {
  const lights = new Lights();
  lights.cascade(
    [0, 1].map((index) => ({ index, before })),
    0,
  );
  lights.cascade([{ index: 2, before }], 1);
  expect(lights.shown(2, after, LIGHT_MS - 1).state).toBe("waiting");
});

test("it ends, also with ten thousand jobs", () => {
  const lights = new Lights();
  lights.cascade(
    Array.from({ length: 10_000 }, (_, index) => ({ index, before })),
    0,
  );
  expect(lights.shown(9_999, after, 6_001).state).toBe("failed");
  expect(lights.active(6_000)).toBe(true);
  expect(lights.active(7_000)).toBe(false);
});
