// The workers: room and load, what they can do, which are draining; and starting one on the server's machine.
import { useState } from "preact/hooks";

import type { PageProps } from "../app";
import { pathOf, post, type Schemas, type WorkerView } from "../api/client";
import { textOf, usePages } from "../api/pages";
import { may } from "../api/session";
import { Ago, bytesText, Page } from "../ui/parts";
import { Meter, Tags, useQueryField } from "../ui/show";
import { PagedTable, type Column } from "../ui/table";
import { act } from "../ui/toast";
import { RunningHere } from "./workers/running";
import { StartWorker } from "./workers/start";
import "./workers/workers.css";

export function workerState(worker: WorkerView): { sign: string; text: string; state: string } {
  if (!worker.attached) return { sign: "✗", text: "gone", state: "failed" };
  if (worker.draining) return { sign: "⊘", text: "draining", state: "timed_out" };
  if (worker.slots && (worker.active ?? 0) >= worker.slots) return { sign: "●", text: "full", state: "running" };
  return { sign: "✓", text: "takes jobs", state: "succeeded" };
}

function Load({ worker }: { worker: WorkerView }) {
  const parts: [string, number | undefined][] = [["CPU", worker.cpu_percent], ["GPU", worker.gpu_percent]];
  const told = parts.filter(([, percent]) => percent !== undefined && percent > 0);
  if (told.length === 0) return <span class="faint">idle</span>;
  return <>{told.map(([name, percent]) => <span key={name} class="load">{name} <Meter warn share={(percent ?? 0) / 100} label={`${name} ${percent} %`} /> {percent} %</span>)}</>;
}

/** What jobs that ask for a share are given of. */
function Offers({ worker }: { worker: WorkerView }) {
  const cpus = (milli: number | undefined) => ((milli ?? 0) / 1000).toLocaleString();
  const parts: string[] = [];
  if (worker.cpu_milli) parts.push(`${cpus(worker.cpu_milli_taken)} of ${cpus(worker.cpu_milli)} CPU`);
  if (worker.memory_bytes) parts.push(`${bytesText(worker.memory_bytes_taken ?? 0)} of ${bytesText(worker.memory_bytes)}`);
  if (worker.gpus) parts.push(`${worker.gpus_taken ?? 0} of ${worker.gpus} GPU`);
  for (const [name, amount] of Object.entries(worker.resources ?? {})) parts.push(`${worker.resources_taken?.[name] ?? 0} of ${amount} ${name}`);
  return <>{parts.map((part) => <div key={part} class="offer">{part}</div>)}</>;
}

const columns: Column<WorkerView>[] = [
  {
    head: "Worker",
    cell: (worker) => (
      <>
        <span class="mono strong">{worker.worker}</span>
        <div class="faint">{[worker.pool === undefined ? undefined : `pool ${worker.pool}`, worker.build].filter(Boolean).join(" · ")}</div>
      </>
    ),
  },
  {
    head: "State",
    class: "nowrap",
    cell: (worker) => {
      const state = workerState(worker);
      return (
        <span class={`state-${state.state}`}>
          <span aria-hidden="true">{state.sign}</span> {state.text}
          {!worker.attached && worker.seen_ms ? <>, seen <Ago ms={worker.seen_ms} /></> : null}
        </span>
      );
    },
  },
  {
    head: "Slots",
    class: "nowrap",
    cell: (worker) => (
      <span class="load">
        <Meter warn share={(worker.active ?? 0) / Math.max(1, worker.slots ?? 1)} label={`${worker.active ?? 0} of ${worker.slots ?? 0} slots in use`} />
        {worker.active ?? 0} of {worker.slots ?? 0}
      </span>
    ),
  },
  { head: "Load", class: "nowrap", cell: (worker) => (worker.attached ? <Load worker={worker} /> : "") },
  { head: "Reserved", cell: (worker) => <Offers worker={worker} /> },
  { head: "Capabilities", cell: (worker) => <Tags of={worker.capabilities} /> },
  { head: "Labels", cell: (worker) => <Tags of={worker.labels} /> },
];

function DrainButton({ worker, reload }: { worker: WorkerView; reload: () => void }) {
  const undo = worker.draining === true;
  const drain = async () => {
    const done = undo ? `${worker.worker} takes jobs again` : `${worker.worker} is draining: it takes no new jobs`;
    await act(() => post(`/workers/${pathOf(worker.worker ?? "")}/drain`, undo ? { undo: true } : {}), done);
    reload();
  };
  return <button type="button" onClick={() => void drain()}>{undo ? "Take jobs again" : "Drain"}</button>;
}

export default function WorkersPage({ place }: PageProps) {
  const [starting, setStarting] = useState(false);
  const name = place.query.get("name") ?? "";
  const field = useQueryField("name", name);
  const pages = usePages<Schemas["listed"], WorkerView>({
    path: "/workers",
    query: { most: 200 },
    rowsOf: (answer) => answer.workers,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => event.type === "worker" || (event.type === "job" && (event.to === "running" || event.from === "running")),
  });
  const rows = pages.rows?.filter((worker) => worker.worker?.includes(name) || worker.pool === name);
  const there = pages.rows?.filter((worker) => worker.attached) ?? [];
  const slots = there.reduce((sum, worker) => sum + (worker.slots ?? 0), 0);
  const active = there.reduce((sum, worker) => sum + (worker.active ?? 0), 0);
  const operator = may("operator");
  return (
    <Page title="Workers" actions={operator ? <button type="button" class="primary" onClick={() => setStarting(true)}>Start a worker…</button> : null}>
      <div class="filters">
        <label class="wide">Name or pool<input type="search" {...field} /></label>
        <p class="totals">{there.length} connected · {active} of {slots} slots in use</p>
      </div>
      <PagedTable
        label="Workers" columns={columns} pages={{ ...pages, rows }} keyOf={(worker) => worker.worker ?? ""}
        rowClass={(worker) => (worker.attached ? undefined : "gone")}
        actions={operator ? (worker) => <DrainButton worker={worker} reload={pages.reload} /> : undefined}
        below={(worker) => ((worker.active ?? 0) > 0 ? <RunningHere worker={worker.worker ?? ""} /> : null)}
        empty={name === "" ? <>No worker yet. Start one here, or on any machine: <code>reeve worker --server HOST:PORT</code></> : "No worker has this name or pool."}
      />
      <StartWorker open={starting} onClose={() => setStarting(false)} reload={pages.reload} />
    </Page>
  );
}
