// What the whole is doing: numbers and plots of the last day, workers, what waits for a person, what failed, what comes
// next, and the newest flows.
import { useEffect, useState } from "preact/hooks";

import type { PageProps } from "../app";
import { get, type Schemas } from "../api/client";
import { sessionNow } from "../api/session";
import { Link, setQuery } from "../router";
import { durationText, Page, serverNow } from "../ui/parts";
import { Health, NextSchedules } from "./overview/health";
import { FailedLately, RecentFlows, WaitingForPerson, Workers } from "./overview/parts";
import { Plot, type Line } from "./overview/plot";
import { gauge, keepPast, keepRing, mean, rate, ring, spans, type Span } from "./overview/ring";
import "./flow/flow.css";
import "./flows/flows.css";
import "./overview/overview.css";

const bad = ["failed", "timed_out", "denied", "quarantined"].map((state) => `entered_${state}`);
const perSecond = (value: number) => (value >= 100 ? Math.round(value).toLocaleString() : value.toFixed(value === 0 ? 0 : 1));
const count = (value: number) => Math.round(value).toLocaleString();

const plots: { title: string; lines: Line[]; text: (value: number) => string; least: number }[] = [
  {
    title: "Throughput, jobs/s",
    text: perSecond,
    least: 1,
    lines: [
      { label: "succeeded", colour: "state-succeeded", measure: rate("entered_succeeded") },
      { label: "failed", colour: "state-failed", measure: rate(...bad) },
    ],
  },
  {
    title: "Retries/s",
    text: perSecond,
    least: 1,
    lines: [{ label: "retries", colour: "state-timed_out", measure: rate("retries") }],
  },
  {
    title: "Queue depth",
    text: count,
    least: 5,
    lines: [
      { label: "ready", colour: "state-ready", measure: gauge("jobs_ready") },
      { label: "running", colour: "state-running", measure: gauge("jobs_dispatched", "jobs_running", "jobs_checking") },
    ],
  },
  {
    title: "Queue wait",
    text: durationText,
    least: 10,
    lines: [{ label: "mean", colour: "state-ready", measure: mean("queue_wait_ms_sum", "queue_wait_count") }],
  },
  {
    title: "Run time",
    text: durationText,
    least: 10,
    lines: [{ label: "mean", colour: "state-running", measure: mean("run_ms_sum", "run_count") }],
  },
  {
    title: "Slots",
    text: count,
    least: 4,
    lines: [
      { label: "in all", colour: "state-waiting", measure: gauge("slots") },
      { label: "used", colour: "state-running", measure: gauge("slots_used") },
    ],
  },
];

/** The newest numbers; asked for once, so that the page does not begin empty, then told by the stream. */
function useNumbers(): Record<string, number> | undefined {
  const [, setTicks] = useState(0);
  useEffect(() => {
    keepRing();
    const unwatch = ring.watch(() => setTicks((count) => count + 1));
    const abort = new AbortController();
    get<Schemas["stats"]>("/stats", {}, abort.signal).then(
      (got) => ring.add({ time_ms: serverNow(), numbers: got.numbers ?? {} }),
      () => undefined, // the frame says that the server does not answer
    );
    return () => {
      unwatch();
      abort.abort();
    };
  }, []);
  return ring.ticks.at(-1)?.numbers;
}

function Tile({ label, value, href, tone }: { label: string; value: string; href: string; tone?: string | undefined }) {
  return (
    <Link href={href} class={`tile card ${tone ?? ""}`}>
      <b>{value}</b>
      <small>{label}</small>
    </Link>
  );
}

const DAY_MS = 24 * 3_600_000;
const clockText = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** The counters of a day ago, or of when the server started: what they were then does not change. */
function useDayBefore(): { time_ms: number; numbers: Record<string, number> } | undefined {
  const [first, setFirst] = useState<{ time_ms: number; numbers: Record<string, number> }>();
  useEffect(() => {
    if (sessionNow().tenant) return; // the counters are of all tenants
    const abort = new AbortController();
    get<Schemas["numbers_past"]>("/stats/history", { since_ms: Math.round(serverNow()) - DAY_MS, step_ms: 2 * DAY_MS }, abort.signal).then(
      (got) => {
        const sample = got.samples?.[0];
        if (sample !== undefined) setFirst({ time_ms: sample.time_ms ?? 0, numbers: sample.numbers ?? {} });
      },
      () => undefined, // the frame says that the server does not answer
    );
    return () => abort.abort();
  }, []);
  return first;
}

function DayTile({ numbers }: { numbers: Record<string, number> | undefined }) {
  const before = useDayBefore();
  if (before === undefined || numbers === undefined) return null;
  const since = (name: string) => Math.max(0, (numbers[name] ?? 0) - (before.numbers[name] ?? 0));
  const whole = serverNow() - before.time_ms > DAY_MS - 120_000;
  const when = whole ? "24 h" : `since ${clockText.format(before.time_ms)}`;
  const failed = since("flows_ended_failed");
  const value = `${since("flows_ended_succeeded").toLocaleString()} / ${failed.toLocaleString()}`;
  return <Tile label={`flows ok / failed, ${when}`} value={value} href={`/flows?since=${before.time_ms}`} tone={failed > 0 ? "bad" : undefined} />;
}

function Tiles({ numbers }: { numbers: Record<string, number> | undefined }) {
  const text = (value: number | undefined) => (numbers === undefined ? "…" : (value ?? 0).toLocaleString());
  const n = numbers ?? {};
  const active = (n.jobs_dispatched ?? 0) + (n.jobs_running ?? 0) + (n.jobs_checking ?? 0);
  return (
    <div class="tiles">
      <Tile label="flows running" value={text(n.flows_running)} href="/flows?states=running" />
      <Tile label="jobs running" value={text(active)} href="/flows?states=running" />
      <Tile label="jobs ready" value={text(n.jobs_ready)} href="/flows?states=running" />
      <Tile
        label="slots used"
        value={n.slots === undefined ? text(active) : `${text(n.slots_used)} / ${text(n.slots)}`}
        href="/workers"
      />
      <Tile label="approvals open" value={text(n.jobs_held)} href="/approvals" tone={n.jobs_held ? "wants" : undefined} />
      <Tile label="dead letters" value={text(n.dead_letters)} href="/dead" tone={n.dead_letters ? "bad" : undefined} />
      <DayTile numbers={numbers} />
    </div>
  );
}

function SpanChoice({ current }: { current: Span }) {
  return (
    <div class="chips" role="group" aria-label="Time shown">
      {spans.map((span) => (
        <button key={span.name} type="button" class="small" aria-pressed={span === current} onClick={() => setQuery({ span: span.name })}>
          {span.label}
        </button>
      ))}
    </div>
  );
}

export default function Overview({ place }: PageProps) {
  const numbers = useNumbers();
  const span = spans.find((each) => each.name === place.query.get("span")) ?? spans[1]!;
  useEffect(() => (sessionNow().tenant ? undefined : keepPast(span)), [span]);
  return (
    <Page title="Overview" actions={<SpanChoice current={span} />}>
      <Tiles numbers={numbers} />
      <div class="plots">
        {plots.map((plot) => (
          <Plot key={plot.title} {...plot} span={span} />
        ))}
      </div>
      <div class="overview-parts">
        <WaitingForPerson />
        <FailedLately />
        <Workers />
        <NextSchedules />
        <Health numbers={numbers} />
      </div>
      <RecentFlows />
    </Page>
  );
}
