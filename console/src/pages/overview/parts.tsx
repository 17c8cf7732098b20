// The lists of the overview: each asks for what it shows, and again when an event says that it changed.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

import type { Schemas } from "../../api/client";
import type { StreamEvent } from "../../api/events";
import { useGet } from "../../api/hooks";
import { Link } from "../../router";
import { Ago, Empty, FlowName, JobLink, Loading, Problem, StateBadge } from "../../ui/parts";
import { FlowRow } from "../flows/list";

const MOST = 8;
type Listed = Schemas["listed"];

/** Jobs change thousands of times a second: what shows them is asked for again with the tick of a second in which any did. */
function useTicks(atOnce: (event: StreamEvent) => boolean): (event: StreamEvent) => boolean {
  const stale = useRef(false);
  return (event) => {
    if (event.type === "job") stale.current = true;
    const due = event.type === "metrics" && stale.current;
    if (due) stale.current = false;
    return due || atOnce(event);
  };
}

export function Frame<T>({
  title,
  href,
  got,
  children,
}: {
  title: string;
  href: string;
  got: ReturnType<typeof useGet<T>>;
  children: (data: T) => ComponentChildren;
}) {
  return (
    <section class="card overview-part" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <Link href={href}>All</Link>
      </header>
      {got.data === undefined && got.error !== undefined ? (
        <Problem error={got.error} retry={got.reload} />
      ) : got.data === undefined ? (
        <Loading />
      ) : (
        children(got.data)
      )}
    </section>
  );
}

export function WaitingForPerson() {
  const got = useGet<Listed>(
    "/questions",
    { most: MOST },
    (event) => event.type === "job" && (event.to === "held" || event.from === "held"),
  );
  return (
    <Frame title="Waiting for a person" href="/approvals" got={got}>
      {({ questions = [] }) =>
        questions.length === 0 ? (
          <Empty>Nothing waits for a decision.</Empty>
        ) : (
          <ul class="overview-list">
            {questions.map((question) => (
              <li key={question.question}>
                <span class="grow">
                  <span><JobLink job={question.job ?? ""} /> <FlowName job={question.job ?? ""} /></span>
                  <small class="faint">{question.body?.message ?? question.gate}</small>
                </span>
                <small class="faint">
                  {question.deadline_ms ? (
                    <>
                      expires <Ago ms={question.deadline_ms} />
                    </>
                  ) : (
                    <Ago ms={question.asked_ms} />
                  )}
                </small>
                <Link class="button" href={`/approvals?job=${encodeURIComponent(question.job ?? "")}`}>
                  Decide
                </Link>
              </li>
            ))}
          </ul>
        )
      }
    </Frame>
  );
}

const endedBadly = ["failed", "timed_out", "denied", "quarantined"];

export function FailedLately() {
  const concerns = (state: string | undefined) => state !== undefined && endedBadly.includes(state);
  const got = useGet<Listed>(
    "/dead",
    { most: MOST, newest: true },
    (event) => event.type === "job" && (concerns(event.to) || concerns(event.from)),
  );
  return (
    <Frame title="Failed lately" href="/dead" got={got}>
      {({ jobs = [] }) =>
        jobs.length === 0 ? (
          <Empty>No dead letters.</Empty>
        ) : (
          <ul class="overview-list">
            {jobs.map((job) => (
              <li key={job.job}>
                <span class="grow">
                  <span><JobLink job={job.job ?? ""} /> <FlowName job={job.job ?? ""} /></span>
                  <small class="faint">{job.reason ?? (job.exit_code ? `exit code ${job.exit_code}` : job.cause)}</small>
                </span>
                <StateBadge state={job.state} />
                <small class="faint">
                  <Ago ms={job.since_ms} />
                </small>
              </li>
            ))}
          </ul>
        )
      }
    </Frame>
  );
}

export function Workers() {
  const workers = useGet<Listed>(
    "/workers",
    { most: 50 },
    useTicks((event) => event.type === "worker"),
  );
  const services = useGet<Schemas["service_list"]>("/services", { most: 100 }, (event) => event.type === "service");
  const servicesOf = (worker: string | undefined) =>
    (services.data?.services ?? []).filter((service) => service.worker !== undefined && service.worker === worker);
  return (
    <Frame title="Workers" href="/workers" got={workers}>
      {({ workers: all = [] }) =>
        all.length === 0 ? (
          <Empty>
            No worker is connected: nothing runs until one is. <code>reeve worker</code> starts one.
          </Empty>
        ) : (
          <ul class="overview-list">
            {all.map((worker) => {
              const [slots, active] = [worker.slots ?? 0, worker.active ?? 0];
              return (
                <li key={worker.worker}>
                  <span class="grow">
                    <span class="mono">{worker.worker}</span>
                    <small class="faint">
                      {worker.attached ? (worker.draining ? "draining" : "connected") : "away"}
                      {worker.pool && worker.pool !== "default" ? ` · ${worker.pool}` : ""}
                      {worker.cpu_percent ? ` · CPU ${worker.cpu_percent} %` : ""}
                      {worker.gpu_percent ? ` · GPU ${worker.gpu_percent} %` : ""}
                      {servicesOf(worker.worker).map((service) => ` · ${service.name} ${service.healthy ? "✓" : "…"}`)}
                    </small>
                  </span>
                  <meter
                    class="slots"
                    min={0}
                    max={Math.max(1, slots)}
                    value={active}
                    aria-label={`${active} of ${slots} slots used`}
                  />
                  <b class="slots-text">
                    {active}/{slots}
                  </b>
                </li>
              );
            })}
          </ul>
        )
      }
    </Frame>
  );
}

export function RecentFlows() {
  const got = useGet<Listed>(
    "/flows",
    { most: MOST },
    useTicks((event) => event.type === "flow"),
  );
  return (
    <Frame title="Recent flows" href="/flows" got={got}>
      {({ flows = [] }) =>
        flows.length === 0 ? (
          <Empty>
            No flow yet. <Link href="/new">Draw one</Link>, or <code>reeve submit FLOW.yaml</code>.
          </Empty>
        ) : (
          <div role="table" aria-label="Recent flows" class="recent">
            {flows.map((flow) => (
              <div key={flow.flow} class="flow-row" role="row">
                <FlowRow flow={flow} />
              </div>
            ))}
          </div>
        )
      }
    </Frame>
  );
}
