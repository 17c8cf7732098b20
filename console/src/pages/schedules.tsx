// Schedules: when they fire next, how their last run went, and what can be done with them.
import { useState } from "preact/hooks";

import type { PageProps } from "../app";
import { del, pathOf, post, type ScheduleView, type Schemas } from "../api/client";
import { useGet } from "../api/hooks";
import { useFlowName } from "../api/names";
import { textOf, usePages } from "../api/pages";
import { may } from "../api/session";
import { setQuery } from "../router";
import { ask } from "../ui/confirm";
import { Ago, dateText, FlowLink, Page, StateBadge } from "../ui/parts";
import { Countdown, useQueryField } from "../ui/show";
import { PagedTable, type Column } from "../ui/table";
import { act } from "../ui/toast";
import { RUNS_SHOWN } from "./flows/group";
import { Runs } from "./flows/runs";
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
  { head: "Last run", class: "nowrap", cell: (schedule) => (schedule.flow ? <LastRun flow={schedule.flow} /> : <span class="faint">never</span>) },
  { head: "Fired", number: true, cell: (schedule) => schedule.fired ?? 0 },
  { head: "Not run", number: true, cell: (schedule) => <NotRun schedule={schedule} /> },
];

function LastRun({ flow }: { flow: string }) {
  const got = useGet<Schemas["got"]>(`/flows/${pathOf(flow)}`, {}, (event) => event.type === "flow" && event.target === flow);
  const view = got.data?.flow;
  return (
    <>
      <FlowLink flow={flow} /> {view ? <StateBadge state={view.state} /> : null}
      {view ? <div class="faint"><Ago ms={view.created_ms} /></div> : null}
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
  const excluded = schedule.excluded ?? 0;
  return <span title={`${missed} missed while the server was down or the schedule paused, ${skipped} skipped because the run before was not over; ${excluded} more on days that its calendar leaves out`}>{missed + skipped}</span>;
}

/** The flows of the name that the schedule gives to its own. */
function LastRuns({ flow }: { flow: string }) {
  const name = useFlowName(flow);
  const got = useGet<Schemas["listed"]>(name === "" ? null : "/flows", { name, most: RUNS_SHOWN }, (event) => event.type === "flow");
  const runs = (got.data?.flows ?? []).filter((run) => run.name === name);
  if (runs.length === 0) return null;
  return <p class="row"><span class="hint">Last runs of {name}</span> <Runs runs={runs} /></p>;
}

function Ahead({ schedule }: { schedule: ScheduleView }) {
  return (
    <>
      {schedule.flow ? <LastRuns flow={schedule.flow} /> : null}
      <p class="hint">Next, in your time zone ({Intl.DateTimeFormat().resolvedOptions().timeZone}). While the run before is not over: {schedule.overlap ?? "skip"}. Missed slots: {schedule.catch_up ?? "all"}.</p>
      <ol class="ahead">{(schedule.ahead ?? []).map(({ ms = 0 }) => <li key={ms}>{dateText(ms)}</li>)}</ol>
      {(schedule.ahead ?? []).length === 0 ? <p class="faint">{schedule.code === "key" || (schedule.expression ?? "").startsWith("key ") ? "A key of the store starts it." : "No slot follows."}</p> : null}
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
