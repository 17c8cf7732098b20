// What the jobs before a gate gave: on that one is to decide.
import { pathOf, type JobView } from "../../api/client";
import { useGet } from "../../api/hooks";
import { JobLink, StateBadge } from "../../ui/parts";
import { Outputs } from "../job/outputs";

const SHOWN = 10;

function Parent({ target }: { target: string }) {
  const job = useGet<JobView>(`/jobs/${pathOf(target)}`, {}, (event) => event.type === "job" && event.target === target).data;
  if (job === undefined) return null;
  const artifacts = job.attempts?.at(-1)?.artifacts ?? job.artifacts ?? [];
  const isEmpty = job.result === undefined && !job.result_hash && artifacts.length === 0;
  return (
    <div class="parent" data-parent={target}>
      <div class="row"><JobLink job={target} /> <StateBadge state={job.state} cause={job.cause} /></div>
      {isEmpty ? null : <Outputs job={job} artifacts={artifacts} />}
    </div>
  );
}

export function Parents({ target }: { target: string }) {
  const [flow = ""] = target.split("/");
  const parents = useGet<JobView>(`/jobs/${pathOf(target)}`).data?.parents ?? [];
  if (parents.length === 0) return null;
  return (
    <section aria-label="Results so far">
      <h3>Results so far</h3>
      {parents.slice(0, SHOWN).map((name) => <Parent key={name} target={name.includes("/") ? name : `${flow}/${name}`} />)}
      {parents.length > SHOWN ? <p class="faint">and {parents.length - SHOWN} more jobs</p> : null}
    </section>
  );
}
