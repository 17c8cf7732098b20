// Mouse, wheel, touch and keys on a canvas, as moves of the camera. Everything that can be done with a pointer can be
// done with keys.
import { pan, zoom, type Camera } from "./camera";

export interface GestureHost {
  camera: () => Camera;
  scaleMin: () => number;
  move: (camera: Camera) => void;
  hover: (x: number, y: number) => void; // -1, -1: the pointer left
  tap: (x: number, y: number, byTouch: boolean) => void;
}

const TAP_PX = 5; // a pointer that moves less has clicked
const WHEEL_ZOOM = 0.0016;

/** Attaches to the canvas; returns how to detach. */
export function attachGestures(canvas: HTMLCanvasElement, host: GestureHost): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  const placeOf = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return a === undefined || b === undefined
      ? undefined
      : { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, distance: Math.hypot(a.x - b.x, a.y - b.y) };
  };

  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, placeOf(event));
    travelled = 0;
  };
  const moved = (event: PointerEvent) => {
    const at = placeOf(event);
    const before = pointers.get(event.pointerId);
    if (before === undefined) return host.hover(at.x, at.y);
    const pinch = spread();
    pointers.set(event.pointerId, at);
    travelled += Math.hypot(at.x - before.x, at.y - before.y);
    const now = spread();
    if (pinch !== undefined && now !== undefined) {
      const panned = pan(host.camera(), now.x - pinch.x, now.y - pinch.y);
      host.move(zoom(panned, now.distance / Math.max(1, pinch.distance), now, host.scaleMin()));
    } else if (travelled > TAP_PX) host.move(pan(host.camera(), at.x - before.x, at.y - before.y));
  };
  const up = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return;
    const at = placeOf(event);
    if (event.type === "pointerup" && travelled <= TAP_PX && pointers.size === 0)
      host.tap(at.x, at.y, event.pointerType !== "mouse");
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.shiftKey) return host.move(pan(host.camera(), -(event.deltaX || event.deltaY) * lines, 0));
    const pinch = event.ctrlKey ? 6 : 1; // trackpads send a pinch as a wheel with Ctrl
    host.move(zoom(host.camera(), Math.exp(-event.deltaY * lines * WHEEL_ZOOM * pinch), placeOf(event), host.scaleMin()));
  };
  const leave = () => host.hover(-1, -1);

  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", moved);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("wheel", wheel, { passive: false });
  return () => {
    canvas.removeEventListener("pointerdown", down);
    canvas.removeEventListener("pointermove", moved);
    canvas.removeEventListener("pointerup", up);
    canvas.removeEventListener("pointercancel", up);
    canvas.removeEventListener("pointerleave", leave);
    canvas.removeEventListener("wheel", wheel);
  };
}
