// The layout of a graph, made by a web worker; the last one stays until the next is there.
import { useEffect, useState } from "preact/hooks";

import type { Layout, LayoutInput } from "./layout";
import type { FlowGraph } from "./model";
import { NODE_HEIGHT, NODE_WIDTH } from "./scene";

export interface LaidOut {
  graph: FlowGraph;
  layout: Layout;
  tookMs: number;
}

let worker: Worker | undefined;
let lastId = 0;

function ask(input: LayoutInput, done: (layout: Layout, tookMs: number) => void): () => void {
  worker ??= new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  const [asked, id] = [worker, ++lastId];
  const hear = (message: MessageEvent<{ id: number; layout: Layout; tookMs: number }>) => {
    if (message.data.id === id) done(message.data.layout, message.data.tookMs);
  };
  asked.addEventListener("message", hear);
  asked.postMessage({ id, input });
  return () => asked.removeEventListener("message", hear);
}

export function useLayout(graph: FlowGraph | undefined): LaidOut | undefined {
  const [laid, setLaid] = useState<LaidOut>();
  useEffect(() => {
    if (graph === undefined) return;
    const input = { count: graph.nodes.length, edges: graph.edges, nodeWidth: NODE_WIDTH, nodeHeight: NODE_HEIGHT };
    return ask(input, (layout, tookMs) => setLaid({ graph, layout, tookMs }));
  }, [graph]);
  return laid;
}
