// Ways through a graph that the page takes: by arrow keys, by a search, along a cascade.
import { stateInfo } from "../../ui/states";
import type { Layout } from "./layout";
import type { FlowGraph, JobNow } from "./model";

/** Jobs whose name has the text; undefined: no text. */
export function matchesOf(graph: FlowGraph, text: string): ReadonlySet<number> | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return undefined;
  return new Set(graph.nodes.flatMap((node, index) => (node.name.toLowerCase().includes(wanted) ? [index] : [])));
}

/** From a job by an arrow key: to a parent, a child, or its neighbour in the column; -1: there is none. */
export function neighbour(graph: FlowGraph, layout: Layout, from: number, key: string): number {
  if (from < 0) return graph.nodes.length > 0 ? 0 : -1;
  const away = (index: number) => Math.abs(layout.y[index]! - layout.y[from]!);
  const nearest = (candidates: number[]) => candidates.reduce((best, c) => (best < 0 || away(c) < away(best) ? c : best), -1);
  if (key === "ArrowLeft") return nearest(graph.nodes[from]!.parents);
  if (key === "ArrowRight") return nearest(graph.nodes[from]!.children);
  const isBelow = key === "ArrowDown";
  const inColumn = (i: number) => i !== from && layout.x[i] === layout.x[from] && layout.y[i]! > layout.y[from]! === isBelow;
  return nearest([...graph.nodes.keys()].filter(inColumn));
}

/** Those that this job dragged down, in the order in which the failure reached them. */
export function cascadeOf(graph: FlowGraph, now: readonly JobNow[], root: number): number[] {
  const target = `${graph.flow}/${graph.nodes[root]!.name}`;
  const state = now[root]?.state;
  if (!stateInfo(state).over || state === "succeeded") return [];
  const reached: number[] = [];
  const seen = new Set([root]);
  const queue = [root];
  for (const at of queue)
    for (const child of graph.nodes[at]!.children) {
      if (seen.has(child)) continue;
      seen.add(child);
      queue.push(child);
      const job = now[child];
      if (job?.cause === "upstream" && (job.root === target || job.root === "")) reached.push(child);
    }
  return reached;
}
