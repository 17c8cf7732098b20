// What runs on a worker.
import type { JobView, Schemas } from "../../api/client";
import { pathOf } from "../../api/client";
import { textOf, usePages } from "../../api/pages";
import { Ago, JobLink, StateBadge } from "../../ui/parts";

export function RunningHere({ worker }: { worker: string }) {
  const pages = usePages<Schemas["listed"], JobView>({
    path: `/workers/${pathOf(worker)}/jobs`,
    query: { most: 100 },
    rowsOf: (answer) => answer.jobs,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => event.type === "job" && event.worker === worker,
  });
  if (pages.rows === undefined || pages.rows.length === 0) return null;
  return (
    <ul class="running-here" aria-label={`Running on ${worker}`}>
      {pages.rows.map((job) => (
        <li key={job.job}>
          <JobLink job={job.job ?? ""} /> <StateBadge state={job.state} /> <span class="faint"><Ago ms={job.since_ms} /></span>
        </li>
      ))}
      {pages.more ? <li><button type="button" class="small" onClick={pages.more}>More</button></li> : null}
    </ul>
  );
}
