// The calendar of a schedule: a month of days, the runs of each in the colour of how they ended, and the slots to come.
import { useState } from "preact/hooks";

import { pathOf, type FlowView, type ScheduleView, type Schemas } from "../../api/client";
import { useGet } from "../../api/hooks";
import { Link, flowPath } from "../../router";
import { countText, Problem, serverNow, StateBadge } from "../../ui/parts";
import { stateInfo } from "../../ui/states";
import "./calendar.css";
import { beforeMonth, countsOf, dayOf, monthOf, monthPlus, weeksOf, type Day, type MonthId, type Run } from "./month";

const AHEAD_MAX = 100;
const RUNS_MAX = 1000;
const CHIPS_MAX = 3; // of a day with more, the states are counted
const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const gapWords: Record<string, string> = { overlap: "skipped", full: "not run", paused: "paused", missed: "missed", queued: "queued" };

const clockText = (ms: number, zone: string): string =>
  new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone }).format(ms);
const monthText = ({ year, month }: MonthId): string =>
  new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" }).format(Date.UTC(year, month - 1, 15));

function Chip({ run, zone }: { run: Run; zone: string }) {
  const state = stateInfo(run.state);
  const says = `${run.flow}, ${state.label}, ${clockText(run.ms, zone)}`;
  return (
    <Link href={flowPath(run.flow)} class={`chip state-${state.name}`} title={says} aria-label={says} data-run={run.flow}>
      <span aria-hidden="true">{state.sign}</span> <span class="clock">{clockText(run.ms, zone)}</span>
    </Link>
  );
}

function Cell({ day, zone, today, picked, onPick }: { day: Day; zone: string; today: string; picked: boolean; onPick: () => void }) {
  const left = day.gaps.reduce((sum, gap) => sum + gap.count, 0);
  const first = day.ahead[0];
  return (
    <td class={day.inMonth ? undefined : "other"} aria-current={day.key === today ? "date" : undefined} data-day={day.key}>
      <button type="button" class="quiet day" aria-expanded={picked} aria-label={day.key} onClick={onPick}>{day.number}</button>
      {day.runs.length <= CHIPS_MAX
        ? day.runs.map((run) => <Chip key={run.flow} run={run} zone={zone} />)
        : countsOf(day.runs).map(([state, count]) => (
          <button key={state} type="button" class={`quiet chip state-${stateInfo(state).name}`} onClick={onPick}>
            <span aria-hidden="true">{stateInfo(state).sign}</span> {count} <span class="unseen">{stateInfo(state).label}</span>
          </button>
        ))}
      {left > 0 ? <span class="chip state-skipped" title={day.gaps.map((gap) => `${gap.count} ${gapWords[gap.what] ?? gap.what}`).join(", ")}>→ {left}</span> : null}
      {first === undefined ? null : (
        <span class="chip faint" data-ahead title={`${countText(day.ahead.length, "slot")} to come`}>○ <span class="clock">{day.ahead.length === 1 ? clockText(first, zone) : day.ahead.length}</span></span>
      )}
    </td>
  );
}

function DayRuns({ day, zone }: { day: Day; zone: string }) {
  return (
    <div class="day-runs">
      <strong>{day.key}</strong>
      {day.runs.length + day.gaps.length + day.ahead.length === 0 ? <p class="faint">No slot on this day.</p> : null}
      <ul>
        {day.runs.map((run) => (
          <li key={run.flow}>{clockText(run.ms, zone)} <Link href={flowPath(run.flow)} class="mono">{run.flow}</Link> <StateBadge state={run.state} /></li>
        ))}
        {day.gaps.map((gap, at) => <li key={`gap ${at}`}>{countText(gap.count, "slot")} {gapWords[gap.what] ?? gap.what}</li>)}
        {day.ahead.map((ms) => <li key={ms} class="faint">{clockText(ms, zone)} to come</li>)}
      </ul>
    </div>
  );
}

export function Calendar({ schedule }: { schedule: ScheduleView }) {
  const name = schedule.name ?? "";
  const zone = schedule.zone || "UTC";
  const [month, setMonth] = useState(() => monthOf(serverNow(), zone));
  const [picked, setPicked] = useState("");
  const details = useGet<Schemas["schedule_view"]>(`/schedules/${pathOf(name)}`, { ahead: AHEAD_MAX }, (event) => event.type === "flow" && event.schedule === name);
  const runs = useGet<Schemas["listed"]>("/flows", { schedule: name, since_ms: beforeMonth(month), most: RUNS_MAX }, (event) => event.type === "flow");
  const flows: FlowView[] = runs.data?.flows ?? [];
  const weeks = weeksOf(month, zone, flows, details.data?.slots ?? [], schedule.paused ? [] : details.data?.ahead ?? []);
  const today = dayOf(serverNow(), zone);
  const day = weeks.flat().find((one) => one.key === picked);
  const turn = (months: number) => {
    setMonth(monthPlus(month, months));
    setPicked("");
  };
  return (
    <section class="calendar" aria-label={`Calendar of ${name}`}>
      <p class="row">
        <button type="button" aria-label="Previous month" onClick={() => turn(-1)}>‹</button>
        <strong aria-live="polite">{monthText(month)}</strong>
        <button type="button" aria-label="Next month" onClick={() => turn(1)}>›</button>
        <span class="hint">Days and times in {zone}</span>
      </p>
      {runs.error ? <Problem error={runs.error} retry={runs.reload} /> : null}
      <table>
        <thead><tr>{weekdays.map((word) => <th key={word} scope="col">{word}</th>)}</tr></thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]?.key}>
              {week.map((one) => (
                <Cell key={one.key} day={one} zone={zone} today={today} picked={picked === one.key} onPick={() => setPicked(picked === one.key ? "" : one.key)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {runs.data?.cursor ? <p class="hint">The newest {RUNS_MAX} runs since the beginning of this month are shown.</p> : null}
      {day ? <DayRuns day={day} zone={zone} /> : null}
    </section>
  );
}
