// The last runs of a flow side by side, as high as they took long, in the colour of how they ended.
import type { FlowView } from "../../api/client";
import { Link, flowPath } from "../../router";
import { dateText, durationText } from "../../ui/parts";
import { stateInfo } from "../../ui/states";
import { RUNS_SHOWN, tookMs } from "./group";
import "./runs.css";

const BAR_PX = 26;
const LEAST_PX = 4;

/** `runs`: the newest first. */
export function Runs({ runs }: { runs: readonly FlowView[] }) {
  const shown = runs.slice(0, RUNS_SHOWN).reverse();
  const longest = Math.max(1, ...shown.map((run) => tookMs(run) ?? 0));
  return (
    <span class="runs">
      {shown.map((run) => {
        const took = tookMs(run);
        const says = `${run.flow}, ${stateInfo(run.state).label}${took === undefined ? "" : `, ${durationText(took)}`}, ${dateText(run.created_ms ?? 0)}`;
        return (
          <Link key={run.flow} href={flowPath(run.flow ?? "")} title={says} aria-label={says} class={`state-${stateInfo(run.state).name}`}>
            <i style={{ height: `${Math.round(LEAST_PX + ((took ?? longest) / longest) * (BAR_PX - LEAST_PX))}px` }} />
          </Link>
        );
      })}
    </span>
  );
}
