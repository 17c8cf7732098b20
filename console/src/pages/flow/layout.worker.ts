// The layout, off the thread that draws: a flow of 10,000 jobs does not stop the page.
import { layOut, type LayoutInput } from "./layout";

addEventListener("message", (message: MessageEvent<{ id: number; input: LayoutInput }>) => {
  const began = performance.now();
  const layout = layOut(message.data.input);
  const buffers = [layout.x, layout.y, layout.entryX, layout.exitX, layout.layer, layout.pointStart, layout.points].map(
    (array) => array.buffer as ArrayBuffer,
  );
  postMessage({ id: message.data.id, layout, tookMs: performance.now() - began }, { transfer: buffers });
});
