import { expect, test } from "vitest";

import { cameraOf, cameraText, centre, firstView, fit, pan, reveal, zoom } from "./camera";

const screen = { width: 800, height: 600 };

test("fit shows all of it, in the middle", () => {
  const camera = fit({ width: 4000, height: 1000 }, screen);
  expect(camera.scale).toBeCloseTo(744 / 4000);
  expect((0 - camera.x) * camera.scale).toBeCloseTo(28);
  expect((500 - camera.y) * camera.scale).toBeCloseTo(300);
});

test("a small flow on a small screen begins where it can be read", () => {
  const phone = { width: 350, height: 500 };
  expect(firstView({ width: 2000, height: 200 }, phone, 0.6, 12)).toMatchObject({ scale: 0.6 });
  expect(firstView({ width: 2000, height: 200 }, phone, 0.6, 500).scale).toBeLessThan(0.2);
  expect(firstView({ width: 400, height: 200 }, phone, 0.6, 12).scale).toBeGreaterThan(0.6);
});

test("zoom keeps the point under the pointer", () => {
  const before = { x: 10, y: 20, scale: 0.5 };
  const after = zoom(before, 2, { x: 100, y: 50 }, 0.01);
  expect(after.scale).toBe(1);
  expect(after.x + 100 / after.scale).toBeCloseTo(before.x + 100 / before.scale);
  expect(after.y + 50 / after.scale).toBeCloseTo(before.y + 50 / before.scale);
  expect(zoom(before, 0.0001, { x: 0, y: 0 }, 0.1).scale).toBe(0.1);
});

test("pan, centre and reveal", () => {
  expect(pan({ x: 0, y: 0, scale: 2 }, 10, 20)).toEqual({ x: -5, y: -10, scale: 2 });
  expect(centre({ x: 0, y: 0, scale: 1 }, 400, 300, screen)).toEqual({ x: 0, y: 0, scale: 1 });
  const camera = { x: 0, y: 0, scale: 1 };
  expect(reveal(camera, { x: 100, y: 100, width: 50, height: 50 }, screen)).toEqual(camera);
  expect(reveal(camera, { x: 900, y: 100, width: 50, height: 50 }, screen).x).toBe(190);
});

test("a camera comes back from an address, and nonsense is none", () => {
  expect(cameraOf(cameraText({ x: 12.4, y: -3, scale: 0.5 }))).toEqual({ x: 12, y: -3, scale: 0.5 });
  for (const text of [null, "", "1,2", "a,b,c", "0,0,0", "0,0,99"]) expect(cameraOf(text)).toBeUndefined();
});
