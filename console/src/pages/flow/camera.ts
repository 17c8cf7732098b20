// Which part of the graph is seen: world = the units of the layout, screen = CSS pixels of the canvas.
export interface Camera {
  x: number; // of the world, at the left upper corner
  y: number;
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

export const SCALE_MAX = 2.5;
const FIRST_NODES_MAX = 60; // of more than these a whole tells more than a beginning
const FIT_SCALE_MAX = 1.1; // three jobs are not blown up to fill the screen

export function fit(world: Size, screen: Size, margin = 28): Camera {
  const room = { width: Math.max(1, screen.width - 2 * margin), height: Math.max(1, screen.height - 2 * margin) };
  const scale = Math.min(room.width / Math.max(1, world.width), room.height / Math.max(1, world.height), FIT_SCALE_MAX);
  return { x: (world.width - screen.width / scale) / 2, y: (world.height - screen.height / scale) / 2, scale };
}

/** All of it where its names can then be read; else, on a small screen, its beginning. */
export function firstView(world: Size, screen: Size, readable: number, nodes: number): Camera {
  const whole = fit(world, screen);
  if (whole.scale >= readable || nodes > FIRST_NODES_MAX) return whole;
  const margin = 20 / readable;
  return { x: -margin, y: (world.height - screen.height / readable) / 2, scale: readable };
}

/** Larger or smaller, with the point of the screen staying where it is. */
export function zoom(camera: Camera, factor: number, at: { x: number; y: number }, scaleMin: number): Camera {
  const scale = Math.min(SCALE_MAX, Math.max(Math.min(scaleMin, SCALE_MAX), camera.scale * factor));
  return { x: camera.x + at.x / camera.scale - at.x / scale, y: camera.y + at.y / camera.scale - at.y / scale, scale };
}

export const pan = (camera: Camera, dx: number, dy: number): Camera => ({
  ...camera,
  x: camera.x - dx / camera.scale,
  y: camera.y - dy / camera.scale,
});

/** Moved so that the point of the world is in the middle. */
export const centre = (camera: Camera, x: number, y: number, screen: Size, scale = camera.scale): Camera => ({
  x: x - screen.width / scale / 2,
  y: y - screen.height / scale / 2,
  scale,
});

/** Moved as little as needed for the box to be seen. */
export function reveal(
  camera: Camera,
  box: { x: number; y: number; width: number; height: number },
  screen: Size,
  margin = 40,
): Camera {
  const space = margin / camera.scale;
  const right = camera.x + screen.width / camera.scale;
  const bottom = camera.y + screen.height / camera.scale;
  let { x, y } = camera;
  if (box.x - space < camera.x) x = box.x - space;
  else if (box.x + box.width + space > right) x += box.x + box.width + space - right;
  if (box.y - space < camera.y) y = box.y - space;
  else if (box.y + box.height + space > bottom) y += box.y + box.height + space - bottom;
  return { ...camera, x, y };
}

/** For an address, and back; what is no camera is undefined. */
export const cameraText = ({ x, y, scale }: Camera): string => `${Math.round(x)},${Math.round(y)},${Number(scale.toPrecision(3))}`;

export function cameraOf(text: string | null): Camera | undefined {
  const [x, y, scale] = (text ?? "").split(",").map(Number);
  if (text === null || x === undefined || y === undefined || scale === undefined) return undefined;
  return [x, y, scale].every(Number.isFinite) && scale > 0 && scale <= SCALE_MAX ? { x, y, scale } : undefined;
}
