// Schedules: when they fire next, how their last run went, and what can be done with them.
import { useState } from "preact/hooks";

import type { PageProps } from "../app";
import { del, pathOf, post, type ScheduleView, type Schemas } from "../api/client";
import { useGet } from "../api/hooks";
import { textOf, usePages } from "../api/pages";
import { may } from "../api/session";
import { flowPath, navigate, setQuery } from "../router";
import { ask } from "../ui/confirm";
import { Ago, dateText, FlowLink, Page, StateBadge } from "../ui/parts";
import { Countdown, useQueryField } from "../ui/show";
import { PagedTable, type Column } from "../ui/table";
import { act } from "../ui/toast";
import { RUNS_SHOWN } from "./flows/group";
import { Runs } from "./flows/runs";
import { AddSchedule } from "./schedules/add";
import { Backfill } from "./schedules/backfill";
import { Calendar } from "./schedules/calendar";
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
  { head: "Last runs", class: "nowrap", cell: (schedule) => (schedule.flow ? <LastRuns name={schedule.name ?? ""} /> : <span class="faint">never</span>) },
  { head: "Fired", number: true, cell: (schedule) => schedule.fired ?? 0 },
  { head: "Not run", number: true, cell: (schedule) => <NotRun schedule={schedule} /> },
];

/** What the schedule made last, and the runs before it as a strip. */
function LastRuns({ name }: { name: string }) {
  const got = useGet<Schemas["listed"]>("/flows", { schedule: name, most: RUNS_SHOWN }, (event) => event.type === "flow" && event.schedule === name);
  const runs = got.data?.flows ?? [];
  const last = runs[0];
  if (last === undefined) return <span class="faint">{got.loading ? "" : "none kept"}</span>;
  return (
    <>
      <FlowLink flow={last.flow ?? ""} /> <StateBadge state={last.state} />
      <div class="faint">began <Ago ms={last.created_ms} /></div>
      <Runs runs={runs} />
    </>
  );
}

/** The zone in which the schedule thinks, where it is not the viewer's. */
function zoneOf(schedule: ScheduleView): string | undefined {
  const zone = /zone (\S+)/.exec(schedule.expression ?? "")?.[1] ?? "UTC";
  return zone === Intl.DateTimeFormat().resolvedOptions().timeZone ? undefined : zone;
}

function zonedText(ms: number, zone: string): string {
  return new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit", timeZone: zone, hourCycle: "h23" }).format(ms);
}

function Next({ schedule }: { schedule: ScheduleView }) {
  const zone = zoneOf(schedule);
  if (schedule.paused) return <span class="state-timed_out" data-paused>⊘ paused</span>;
  if (!schedule.next_ms) return <span class="faint">{schedule.text ?? "never again"}</span>;
  return (
    <>
      <Countdown ms={schedule.next_ms} />
      <div class="faint">{dateText(schedule.next_ms)}</div>
      {zone === undefined ? null : <div class="faint">{zonedText(schedule.next_ms, zone)} in {zone}</div>}
      {schedule.code !== "time" && schedule.text ? <div class="faint">{schedule.text}</div> : null}
    </>
  );
}

function NotRun({ schedule }: { schedule: ScheduleView }) {
  const missed = schedule.missed ?? 0;
  const skipped = schedule.skipped ?? 0;
  return <span title={`${missed} missed while the server was down or the schedule paused, ${skipped} skipped because the run before was not over`}>{missed + skipped}</span>;
}

function Ahead({ schedule }: { schedule: ScheduleView }) {
  return (
    <>
      <Calendar schedule={schedule} />
      <p class="hint">Next, in your time zone ({Intl.DateTimeFormat().resolvedOptions().timeZone}). While the run before is not over: {schedule.overlap ?? "skip"}. Missed slots: {schedule.catch_up ?? "all"}.</p>
      <ol class="ahead">{(schedule.ahead ?? []).map(({ ms = 0 }) => <li key={ms}>{dateText(ms)}</li>)}</ol>
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
    const sure = await ask({ title: `Remove ${name}?`, text: "It does not fire any more. Its flows stay.", action: "Remove", danger: true });
    if (sure === null) return;
    await act(() => del(`/schedules/${pathOf(name)}`), `${name} is removed`);
    reload();
  };
  const run = async () => {
    const made = await act(() => post<Schemas["submitted_flow"]>(`/schedules/${pathOf(name)}/run`, {}), `${name} runs`);
    if (made?.flow) navigate(flowPath(made.flow));
  };
  if (!may("operator", "submitter")) return null;
  return (
    <>
      <button type="button" onClick={() => void run()}>Run now</button>
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
