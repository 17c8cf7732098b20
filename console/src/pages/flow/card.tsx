// What is said about a job beside its node: where it stands, why, and by which rule.
import type { Schemas } from "../../api/client";
import { pathOf } from "../../api/client";
import { useGet } from "../../api/hooks";
import { jobPath, Link } from "../../router";
import { StateBadge, useNow } from "../../ui/parts";
import { stateInfo } from "../../ui/states";
import { explain } from "./explain";
import type { Attempt, FlowGraph, JobNow } from "./model";

interface CardProps {
  graph: FlowGraph;
  now: readonly JobNow[];
  index: number;
  attempts: readonly Attempt[];
  live: boolean; // false: a moment of the past, which the server is not asked about
  momentMs?: number | undefined; // of the past
  onUnfold?: (() => void) | undefined;
  unfolded?: boolean;
  onCascade?: (() => void) | undefined;
}

export function JobCard({ graph, now, index, attempts, live, momentMs, onUnfold, unfolded, onCascade }: CardProps) {
  const node = graph.nodes[index]!;
  const job = now[index]!;
  const target = `${graph.flow}/${node.name}`;
  const ask = live && !stateInfo(job.state).over && job.state !== "running";
  const wakes = (event: { type: string; target?: string }) => event.type === "job" && event.target === target;
  const reason = useGet<Schemas["reason"]>(ask ? `/jobs/${pathOf(target)}/why` : null, {}, wakes);
  const clock = useNow();
  const shown = explain({ graph, now, index, attempts, nowMs: momentMs ?? clock, reason: ask ? reason.data : undefined });
  return (
    <>
      <header>
        <strong class="mono">{node.name}</strong>
        <StateBadge state={job.state} cause={job.cause} />
      </header>
      <p class="card-headline">{shown.headline}</p>
      {shown.facts.map((fact) => (
        <p key={fact} class="faint">
          {fact}
        </p>
      ))}
      <p class="card-rule">
        <strong>{shown.rule.name}.</strong> {shown.rule.text}
      </p>
      <footer class="row">
        <Link href={jobPath(target)}>Open job</Link>
        {job.state === "held" ? <Link href={`/approvals?job=${encodeURIComponent(target)}`}>Approve…</Link> : null}
        {onUnfold === undefined ? null : (
          <button type="button" onClick={onUnfold}>
            {unfolded ? "Fold items" : `Unfold ${node.items.toLocaleString()} items`}
          </button>
        )}
        {onCascade === undefined ? null : (
          <button type="button" onClick={onCascade}>
            Show cascade
          </button>
        )}
      </footer>
    </>
  );
}
