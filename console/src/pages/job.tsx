// One job: in which state and why, what each attempt did, what it wrote and gave, what it runs.
import { useRef } from "preact/hooks";

import type { PageProps } from "../app";
import { pathOf, type AttemptView, type JobView, type Reason } from "../api/client";
import type { StreamEvent } from "../api/events";
import { useGet } from "../api/hooks";
import { useFlowName } from "../api/names";
import { Link, flowPath, type Place } from "../router";
import { Ago, dateText, Empty, JobLink, Loading, Page, Problem, StateBadge } from "../ui/parts";
import { RunView } from "../ui/run";
import { Countdown, Facts, Meter, Tabs } from "../ui/show";
import { stateInfo } from "../ui/states";
import { JobActions } from "./job/actions";
import { Attempts, exitText } from "./job/attempts";
import { History, Neighbours } from "./job/history";
import { Items } from "./job/items";
import "./job/job.css";
import { Log } from "./job/log";
import { Outputs } from "./job/outputs";

/** The one reason why it does not run, with what it waits for. */
function Why({ target, job, version }: { target: string; job: JobView; version: number }) {
  const flow = target.split("/")[0] ?? "";
  const why = useGet<Reason>(`/jobs/${pathOf(target)}/why`, { }, (event) => event.type === "job" && event.target.startsWith(`${flow}/`));
  const reason = why.data;
  if (reason?.text === undefined || reason.code === "nothing" || stateInfo(job.state).over) return null;
  return (
    <div class="why" data-code={reason.code} key={version}>
      <strong>Why</strong>
      <span>{reason.text}</span>
      {reason.until_ms ? <span class="faint">until {dateText(reason.until_ms)}, <Countdown ms={reason.until_ms} /></span> : null}
      {reason.poll_ms ? <span class="faint">asked again <Countdown ms={reason.poll_ms} over="now" /></span> : null}
      {reason.parent ? <span>waits for <JobLink job={reason.parent.includes("/") ? reason.parent : `${flow}/${reason.parent}`} /></span> : null}
      {reason.question ? <Link href={`/approvals?job=${encodeURIComponent(target)}`}>the question</Link> : null}
    </div>
  );
}

function Summary({ job }: { job: JobView }) {
  const over = stateInfo(job.state).over;
  const due = !over && job.due_ms ? <Countdown ms={job.due_ms} /> : undefined;
  return (
    <div class="card job-facts">
      <Facts
        flat
        of={[
          ["State", <><StateBadge state={job.state} cause={job.cause} /> <Ago ms={job.since_ms} /></>],
          ["Next", due],
          ["Ended", over && job.worker && (job.exit_code || job.signal) ? exitText(job) : undefined],
          ["Reason", job.reason],
          ["Because of", job.root && <JobLink job={job.root} />],
          ["Progress", job.percent && !over ? <><Meter share={job.percent / 100} label={`${job.percent} %`} /> {job.percent} %</> : undefined],
          ["Kind", job.kind],
          ["Items", job.items ? itemsText(job) : undefined],
          ["Attempts", job.items ? undefined : job.attempt ? `${job.attempt} of ${Math.max(job.attempt, job.attempts_max ?? 1)}` : `none of ${job.attempts_max ?? 1} yet`],
          ["Worker", job.worker && <Link href={`/workers?name=${encodeURIComponent(job.worker)}`}>{job.worker}</Link>],
          ["Pool", job.pool],
        ]}
      />
    </div>
  );
}

function itemsText(job: JobView): string {
  const [begun, open, bad] = [job.items_begun ?? 0, job.items_open ?? 0, job.items_bad ?? 0];
  const parts = [`${(begun - open - bad).toLocaleString()} of ${(job.items ?? 0).toLocaleString()} ok`];
  if (open > 0) parts.push(`${open.toLocaleString()} running`);
  if (bad > 0) parts.push(`${bad.toLocaleString()} failed`);
  return parts.join(", ");
}

function attemptsOf(job: JobView): AttemptView[] {
  return [...(job.attempts ?? [])].sort((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0));
}

function Views({ job, target, place, version }: { job: JobView; target: string; place: Place; version: number }) {
  const attempts = attemptsOf(job);
  const wanted = Number(place.query.get("attempt") ?? 0);
  const attempt = attempts.find((each) => each.attempt === wanted) ?? attempts.at(-1);
  const artifacts = attempt?.artifacts ?? job.artifacts ?? [];
  const view = place.query.get("view") ?? (job.items ? "items" : attempt === undefined ? "runs" : "log");
  const tabs = [
    ...(job.items ? [{ id: "items", label: "Items", count: job.items }] : []),
    { id: "log", label: attempt === undefined ? "Log" : `Log of #${attempt.attempt}` },
    { id: "gave", label: "Result and artifacts", count: artifacts.length + (job.result !== undefined ? 1 : 0) },
    { id: "runs", label: "What it runs" },
    { id: "history", label: "History and dependencies" },
  ];
  return (
    <>
      {attempts.length > 0 ? <div class="attempts"><Attempts attempts={attempts} current={attempt?.attempt} /></div> : null}
      <Tabs tabs={tabs} current={view} />
      {view === "items" ? <Items target={target} /> : null}
      {view === "log" && attempt !== undefined ? <Log key={`${target} ${attempt.attempt}`} job={target} attempt={attempt} place={place} /> : null}
      {view === "log" && attempt === undefined ? <Empty>It has not run yet, so there is no log.</Empty> : null}
      {view === "gave" ? <Outputs job={job} artifacts={artifacts} /> : null}
      {view === "runs" ? (job.body ? <div class="card"><RunView run={job.body} hash={job.body_hash} /></div> : <Empty>There is nothing to run: it ends by itself.</Empty>) : null}
      {view === "history" ? <><Neighbours job={job} target={target} /><History target={target} version={version} /></> : null}
    </>
  );
}

export default function JobPage({ place }: PageProps) {
  const [, flow = "", ...rest] = place.words;
  const name = rest.join("/");
  const target = `${flow}/${name}`;
  const version = useRef(0);
  const wakes = (event: StreamEvent) => {
    const concerns = event.type === "job" && event.target === target;
    if (concerns) version.current++;
    return concerns;
  };
  const got = useGet<JobView>(`/jobs/${pathOf(target)}`, {}, wakes);
  const job = got.data;
  const flowName = useFlowName(flow);
  const title = <><Link href={flowPath(flow)} class="crumb">{flowName === "" ? "" : `${flowName} `}<span class="mono">{flow}</span></Link><span class="crumb-sign" aria-hidden="true">/</span>{name}</>;
  if (job === undefined) return <Page title={title}>{got.error ? <Problem error={got.error} retry={got.reload} /> : <Loading />}</Page>;
  return (
    <Page title={title} actions={<JobActions job={job} target={target} reload={got.reload} />}>
      <div class="job">
        {got.error ? <Problem error={got.error} retry={got.reload} /> : null}
        <Why target={target} job={job} version={version.current} />
        <Summary job={job} />
        <Views job={job} target={target} place={place} version={version.current} />
      </div>
    </Page>
  );
}
