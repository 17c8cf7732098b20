// How far a flow is: one bar of all its jobs, by state.
import { jobStates } from "../../ui/states";

// Ended well first, then badly, then what is under way; what waits is the rest of the bar.
const order = [
  "succeeded",
  "skipped",
  "failed",
  "upstream_failed",
  "timed_out",
  "cancelled",
  "denied",
  "quarantined",
  "running",
  "checking",
  "dispatched",
  "held",
  "ready",
];

/** The jobs of a flow by state, those that failed only because of another apart where the server tells how many. */
export function jobCounts(flow: { states?: Record<string, number>; upstream_failed?: number }): Map<string, number> {
  const counts = new Map(Object.entries(flow.states ?? {}));
  const upstream = flow.upstream_failed ?? 0;
  if (upstream > 0) counts.set("upstream_failed", upstream).set("failed", Math.max(0, (counts.get("failed") ?? 0) - upstream));
  return counts;
}

export function Progress({ counts }: { counts: ReadonlyMap<string, number> }) {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const over = jobStates.reduce((sum, state) => sum + (state.over ? (counts.get(state.name) ?? 0) : 0), 0);
  const percent = total === 0 ? 0 : Math.floor((over / total) * 100);
  return (
    <div
      class="progress"
      role="progressbar"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      aria-label={`${over} of ${total} jobs over`}
    >
      {order.map((state) => {
        const count = counts.get(state) ?? 0;
        return count === 0 ? null : (
          <i
            key={state}
            class={`state-${state}`}
            style={{ width: `${(count / Math.max(1, total)) * 100}%` }}
            title={`${count} ${state.replaceAll("_", " ")}`}
          />
        );
      })}
    </div>
  );
}
