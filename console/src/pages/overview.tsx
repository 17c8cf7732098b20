// What the whole is doing: numbers and plots of the last ten minutes, workers, what waits for a person, what failed, and
// the newest flows.
import { useEffect, useState } from "preact/hooks";

import { get, type Schemas } from "../api/client";
import { Link } from "../router";
import { durationText, Page, serverNow } from "../ui/parts";
import { FailedLately, RecentFlows, WaitingForPerson, Workers } from "./overview/parts";
import { Plot, type Line } from "./overview/plot";
import { gauge, keepRing, mean, rate, ring } from "./overview/ring";
import "./flow/flow.css";
import "./flows/flows.css";
import "./overview/overview.css";

const bad = ["failed", "timed_out", "denied", "quarantined"].map((state) => `entered_${state}`);
const perSecond = (value: number) => (value >= 100 ? Math.round(value).toLocaleString() : value.toFixed(value === 0 ? 0 : 1));
const whole = (value: number) => Math.round(value).toLocaleString();

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
    text: whole,
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
    text: whole,
    least: 4,
    lines: [
      { label: "there", colour: "state-waiting", measure: gauge("slots") },
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
      <Tile label="wait for a person" value={text(n.jobs_held)} href="/approvals" tone={n.jobs_held ? "wants" : undefined} />
      <Tile label="dead letters" value={text(n.dead_letters)} href="/dead" tone={n.dead_letters ? "bad" : undefined} />
    </div>
  );
}

export default function Overview() {
  const numbers = useNumbers();
  return (
    <Page title="Overview">
      <Tiles numbers={numbers} />
      <div class="plots">
        {plots.map((plot) => (
          <Plot key={plot.title} {...plot} />
        ))}
      </div>
      <div class="overview-parts">
        <WaitingForPerson />
        <FailedLately />
        <Workers />
      </div>
      <RecentFlows />
    </Page>
  );
}
