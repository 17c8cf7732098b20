// Beside the stage: who works, what the scheduler counts, and what the last recovery found.
import { useRef } from "preact/hooks";

import type { Schemas, WorkerView } from "../../api/client";
import { useEvents, useGet, useMetrics } from "../../api/hooks";
import { StateBadge, durationText, useNow } from "../../ui/parts";
import { Facts } from "../../ui/show";
import { rate } from "../overview/ring";
import { isOver, ownName, parentsLeft, type DemoFlow, type DemoJob } from "./facts";
import { useKept } from "./kept";
import { unsettled, type Playground } from "./status";

const SLOTS_SHOWN = 16;
const HELD_MOST = 100;
const RATES_MS = 10_000;

interface Held {
  job: string;
  sinceMs: number;
}

/** What a worker holds: of all flows, not only of the one on the stage. */
function Worker({ worker, flow, dead, nowMs }: { worker: WorkerView; flow: DemoFlow | undefined; dead: boolean; nowMs: number }) {
  const name = worker.worker ?? "";
  const got = useGet<Schemas["listed"]>(`/workers/${encodeURIComponent(name)}/jobs`, { most: HELD_MOST }, (event) => event.type === "worker" || (event.type === "job" && (event.worker === name || event.from === "running")));
  const held = useKept(`held.${name}`, got.data?.jobs?.map((job): Held => ({ job: job.job ?? "", sinceMs: job.since_ms ?? 0 }))) ?? [];
  const slots = Math.min(SLOTS_SHOWN, Math.max(worker.slots ?? 0, held.length));
  const state = dead ? "works on alone" : worker.attached ? "attached" : "away";
  return (
    <div class="worker" data-worker={name} data-held={held.length}>
      <p><span class="mono">{name}</span> <span class="faint">{state}, {dead ? "when last heard of " : ""}{held.length} of {worker.slots ?? 0} slots</span></p>
      <div class="slots">
        {Array.from({ length: slots }, (_, i) => {
          const at = held[i];
          if (at === undefined) return <span key={i} class="slot">idle</span>;
          const shown = at.job.startsWith(`${flow?.id}/`) ? ownName(at.job) : at.job;
          const age = durationText(Math.max(0, nowMs - at.sinceMs));
          return <span key={i} class="slot taken" title={`${at.job} for ${age}`}>{shown} <small>{age}</small></span>;
        })}
      </div>
    </div>
  );
}

export function WorkerPool({ flow, dead }: { flow: DemoFlow | undefined; dead: boolean }) {
  const got = useGet<{ workers?: WorkerView[] }>("/workers", {}, (event) => event.type === "worker");
  const workers = useKept("workers", got.data?.workers);
  const nowMs = useNow();
  const none = dead && workers === undefined ? "Unknown while the server is dead." : "No worker is attached.";
  return (
    <section class="card" aria-label="Worker pool">
      <h2>Worker pool</h2>
      {workers === undefined || workers.length === 0 ? <p class="empty">{none}</p> : workers.map((worker) => (
        <Worker key={worker.worker} worker={worker} flow={flow} dead={dead} nowMs={nowMs} />
      ))}
    </section>
  );
}

/** Between the oldest and the newest tick of the last seconds; undefined: too little is known. */
function useRates(): { done: number; retries: number } | undefined {
  const ticks = useRef<{ time_ms: number; numbers: Record<string, number> }[]>([]);
  useEvents((event) => {
    if (event.type === "metrics") ticks.current = [...ticks.current, event].filter((tick) => tick.time_ms > event.time_ms - RATES_MS);
  });
  const [first, last] = [ticks.current[0], ticks.current.at(-1)];
  if (first === undefined || last === undefined || last === first) return undefined;
  const seconds = (last.time_ms - first.time_ms) / 1000;
  const rateOf = (...names: string[]) => rate(...names)(last.numbers, first.numbers, seconds) ?? 0;
  return { done: rateOf("entered_succeeded", "entered_failed"), retries: rateOf("retries") };
}

function Standing({ job, nowMs }: { job: DemoJob; nowMs: number }) {
  if (job.state === "waiting" && job.attempt > 0) return <b>{job.dueMs > nowMs ? `retry in ${durationText(job.dueMs - nowMs)}` : "retry due"}</b>;
  return <StateBadge state={job.state} cause={job.cause === "upstream" ? "cascade" : undefined} />;
}

export function Internals({ flow, dead }: { flow: DemoFlow | undefined; dead: boolean }) {
  const metrics = useMetrics();
  const nowMs = useNow(250);
  const numbers = metrics?.numbers ?? {};
  const depth = numbers["jobs_ready"] ?? 0;
  const slots = numbers["slots"] ?? 0;
  const rates = useRates();
  const known = (text: string) => (dead || metrics === undefined ? "unknown" : text);
  return (
    <section class="card" aria-label="Internals">
      <h2>Internals</h2>
      <label class="queue-depth">
        Queue depth <b>{dead ? "unknown" : depth}</b>
        <meter min={0} max={50} high={30} optimum={0} value={dead ? 0 : depth} />
      </label>
      <Facts
        flat
        of={[
          ["Throughput", known(`${(rates?.done ?? 0).toFixed(1)} jobs/s`)],
          ["Retries", known(`${(rates?.retries ?? 0).toFixed(1)}/s`)],
          ["Queue pressure", known(slots === 0 ? "no slots" : `${(depth / slots).toFixed(1)} ready per slot`)],
        ]}
      />
      {flow === undefined ? null : (
        <table class="dense">
          <thead><tr><th>job</th><th>needs left</th><th>state</th></tr></thead>
          <tbody>
            {flow.jobs.map((job) => (
              <tr key={job.name}>
                <td class="mono">{job.name}</td>
                <td class="number">{isOver(job) ? "" : `${parentsLeft(flow, job).length}/${job.parents.length}`}</td>
                <td><Standing job={job} nowMs={nowMs} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

export function RecoveryReport({ now }: { now: Playground }) {
  const found = now.recovery;
  if (found === undefined) return null;
  const open = unsettled(found);
  const figures: [string, string, string][] = [
    ["records", found.records.toLocaleString(), "records replayed"],
    ["took", `${found.took_ms} ms`, "to read them and be ready"],
    ["flows", String(found.flows), "flows in memory again"],
    ["jobs", String(found.jobs), "jobs in memory again"],
    ["adopted", String(found.attempts_adopted), open > 0 ? `attempts adopted, ${open} to hear of` : "attempts adopted, never stopped"],
    ["again", String(found.attempts_again), "attempts begun again"],
    ["lost", String(found.lost), "acknowledged and lost"],
  ];
  return (
    <section class="recovery" aria-label="Recovery" role="status">
      <h2>Recovered</h2>
      <dl>
        {figures.map(([name, value, text]) => (
          <div key={name} class={`figure figure-${name}`} data-figure={name} data-value={value}><dt>{text}</dt><dd>{value}</dd></div>
        ))}
      </dl>
    </section>
  );
}

const promises: [string, string][] = [
  ["Accepted means on disk.", "Every answer leaves after its record was synced. kill -9, a power cut or a full disk cannot take it back."],
  ["Running jobs survive the server.", "They are processes of the worker. It keeps their output and their end on its own disk until a server is back."],
  ["Nothing runs twice by accident.", "An attempt is a lease with a number; only its holder may report the end. A worker that is back within one lease is adopted."],
  ["Timers survive.", "When a retry or a deadline is due is part of the record, not of a process."],
];
const prices: [string, string][] = [
  ["A lease, not magic.", "A worker cut off for longer than its lease may still run a job that was started elsewhere; one result counts. With exclusive: true the first is killed before."],
  ["At least once.", "A job whose worker died in the middle runs again, unless it says retries: 0. Make jobs that can be repeated."],
  ["One machine keeps the log.", "If its disk is gone, so is the log."],
];

export function Guarantees() {
  const list = (items: [string, string][]) => <ul>{items.map(([title, text]) => <li key={title}><strong>{title}</strong> {text}</li>)}</ul>;
  return (
    <details class="card guarantees">
      <summary>What is guaranteed, and what it costs</summary>
      <div class="guarantee-columns">
        <div><h3>You can rely on</h3>{list(promises)}</div>
        <div><h3>What to know</h3>{list(prices)}</div>
      </div>
    </details>
  );
}
