// Beside the stage: who works, what the scheduler counts, and what the last recovery found.
import { useEffect, useState } from "preact/hooks";

import type { WorkerView } from "../../api/client";
import { useGet, useMetrics } from "../../api/hooks";
import { StateBadge, durationText, useNow } from "../../ui/parts";
import { isOver, parentsLeft, type DemoFlow, type DemoJob } from "./facts";
import { unsettled, type Playground } from "./status";

const SLOTS_SHOWN = 16;

function Worker({ worker, jobs, dead, nowMs }: { worker: WorkerView; jobs: DemoJob[]; dead: boolean; nowMs: number }) {
  const slots = Math.min(SLOTS_SHOWN, Math.max(worker.slots ?? 0, jobs.length));
  const state = dead ? "works on alone" : worker.attached ? "attached" : "away";
  return (
    <div class="worker">
      <p><span class="mono">{worker.worker}</span> <span class="faint">{state}, {jobs.length} of {worker.slots ?? 0} slots</span></p>
      <div class="slots">
        {Array.from({ length: slots }, (_, i) => {
          const job = jobs[i];
          return job === undefined ? <span key={i} class="slot">idle</span> : (
            <span key={i} class="slot taken" title={`${job.name} for ${durationText(nowMs - job.sinceMs)}`}>{job.name} <small>{durationText(Math.max(0, nowMs - job.sinceMs))}</small></span>
          );
        })}
      </div>
    </div>
  );
}

export function WorkerPool({ flow, dead }: { flow: DemoFlow | undefined; dead: boolean }) {
  const got = useGet<{ workers?: WorkerView[] }>("/workers", {}, (event) => event.type === "worker");
  const [workers, setWorkers] = useState<WorkerView[]>([]); // the last that were heard of, also while nobody can be asked
  const nowMs = useNow();
  useEffect(() => {
    if (got.data?.workers !== undefined) setWorkers(got.data.workers);
  }, [got.data]);
  const busy = (flow?.jobs ?? []).filter((job) => job.state === "running" || job.state === "dispatched");
  return (
    <section class="card" aria-label="Worker pool">
      <h2>Worker pool</h2>
      {workers.length === 0 ? <p class="empty">No worker is attached.</p> : workers.map((worker) => (
        <Worker key={worker.worker} worker={worker} jobs={busy.filter((job) => job.worker === worker.worker)} dead={dead} nowMs={nowMs} />
      ))}
    </section>
  );
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
  return (
    <section class="card" aria-label="Internals">
      <h2>Internals</h2>
      <label class="meter">
        Queue depth <b>{dead ? "unknown" : depth}</b>
        <meter min={0} max={50} high={30} optimum={0} value={dead ? 0 : depth} />
      </label>
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
