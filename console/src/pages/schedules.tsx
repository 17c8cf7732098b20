// Flows that are made again and again: when next, how often so far, and what is done about them.
import { useState } from "preact/hooks";

import type { PageProps } from "../app";
import { del, pathOf, post, type ScheduleView, type Schemas } from "../api/client";
import { textOf, usePages } from "../api/pages";
import { may } from "../api/session";
import { setQuery } from "../router";
import { ask } from "../ui/confirm";
import { Ago, dateText, FlowLink, Page } from "../ui/parts";
import { Countdown, useQueryField } from "../ui/show";
import { PagedTable, type Column } from "../ui/table";
import { act } from "../ui/toast";
import { AddSchedule } from "./schedules/add";
import { Backfill } from "./schedules/backfill";
import "./schedules/schedules.css";

const AHEAD = 5;

const columnsOf = (open: string | null): Column<ScheduleView>[] => [
  {
    head: "Schedule",
    cell: (schedule) => (
      <>
        <button type="button" class="quiet link" aria-expanded={open === schedule.name} onClick={() => setQuery({ open: open === schedule.name ? null : schedule.name ?? null })}>
          <span aria-hidden="true">{open === schedule.name ? "▾" : "▸"}</span> {schedule.name}
        </button>
        <div class="faint mono">{schedule.expression}</div>
      </>
    ),
  },
  { head: "Next", class: "nowrap", cell: (schedule) => <Next schedule={schedule} /> },
  { head: "Last", class: "nowrap", cell: (schedule) => <Ago ms={schedule.fired_ms} /> },
  { head: "Fired", number: true, cell: (schedule) => schedule.fired ?? 0 },
  { head: "Left out", number: true, cell: (schedule) => <LeftOut schedule={schedule} /> },
  {
    head: "Last flow",
    cell: (schedule) => (schedule.flow ? <><FlowLink flow={schedule.flow} />{schedule.running ? <span class="faint"> running</span> : null}</> : ""),
  },
];

function Next({ schedule }: { schedule: ScheduleView }) {
  if (schedule.paused) return <span class="state-timed_out" data-paused>⊘ paused</span>;
  if (!schedule.next_ms) return <span class="faint">{schedule.text ?? "never again"}</span>;
  return (
    <>
      <Countdown ms={schedule.next_ms} />
      <div class="faint">{dateText(schedule.next_ms)}</div>
      {schedule.code !== "time" && schedule.text ? <div class="faint">{schedule.text}</div> : null}
    </>
  );
}

function LeftOut({ schedule }: { schedule: ScheduleView }) {
  const missed = schedule.missed ?? 0;
  const skipped = schedule.skipped ?? 0;
  return <span title={`${missed} missed while nobody was there, ${skipped} skipped because the one before still ran`}>{missed + skipped}</span>;
}

function Ahead({ schedule }: { schedule: ScheduleView }) {
  return (
    <>
      <p class="hint">Next, in your time zone ({Intl.DateTimeFormat().resolvedOptions().timeZone}). Overlap: {schedule.overlap ?? "skip"}; slots that were missed: {schedule.catch_up ?? "all"}.</p>
      <ol class="ahead">{(schedule.ahead ?? []).map((ms) => <li key={ms}>{dateText(ms)}</li>)}</ol>
      {(schedule.ahead ?? []).length === 0 ? <p class="faint">No slot follows.</p> : null}
    </>
  );
}

function ScheduleActions({ schedule, reload, onBackfill }: { schedule: ScheduleView; reload: () => void; onBackfill: () => void }) {
  const name = schedule.name ?? "";
  const change = async (verb: string, done: string) => {
    await act(() => post(`/schedules/${pathOf(name)}/${verb}`, {}), done);
    reload();
  };
  const remove = async () => {
    const sure = await ask({ title: `Remove ${name}?`, text: "It fires no more. Flows that it made stay.", action: "Remove", danger: true });
    if (sure === null) return;
    await act(() => del(`/schedules/${pathOf(name)}`), `${name} is removed`);
    reload();
  };
  if (!may("operator", "submitter")) return null;
  return (
    <>
      {schedule.paused
        ? <button type="button" onClick={() => void change("resume", `${name} fires again`)}>Resume</button>
        : <button type="button" onClick={() => void change("pause", `${name} is paused`)}>Pause</button>}
      <button type="button" onClick={onBackfill}>Backfill…</button>
      <button type="button" class="danger" onClick={() => void remove()}>Remove</button>
    </>
  );
}

export default function SchedulesPage({ place }: PageProps) {
  const [adding, setAdding] = useState(false);
  const [filling, setFilling] = useState<string>();
  const name = place.query.get("name") ?? "";
  const open = place.query.get("open");
  const field = useQueryField("name", name);
  const pages = usePages<Schemas["schedule_list"], ScheduleView>({
    path: "/schedules",
    query: { most: 100, ahead: AHEAD },
    rowsOf: (answer) => answer.schedules,
    cursorOf: (answer) => textOf(answer.cursor),
    wakes: (event) => event.type === "flow",
  });
  const rows = pages.rows?.filter((schedule) => schedule.name?.includes(name));
  return (
    <Page title="Schedules" actions={may("operator", "submitter") ? <button type="button" class="primary" onClick={() => setAdding(true)}>Add a schedule…</button> : null}>
      <div class="filters"><label class="wide">Name<input type="search" {...field} /></label></div>
      <PagedTable
        label="Schedules" columns={columnsOf(open)} pages={{ ...pages, rows }} keyOf={(schedule) => schedule.name ?? ""}
        actions={(schedule) => (
          <ScheduleActions schedule={schedule} reload={pages.reload} onBackfill={() => setFilling(schedule.name)} />
        )}
        below={(schedule) => (open === schedule.name ? <Ahead schedule={schedule} /> : null)}
        empty={name === "" ? <>No schedule. Add one here, or with <code>reeve schedule add FLOW.yaml</code></> : "No schedule has this name."}
      />
      <AddSchedule open={adding} onClose={() => setAdding(false)} reload={pages.reload} />
      <Backfill name={filling} onClose={() => setFilling(undefined)} reload={pages.reload} />
    </Page>
  );
}
