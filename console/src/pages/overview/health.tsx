// What comes next, and how the server itself is: its journal, its disk, its clock.
import type { ComponentChildren } from "preact";

import type { ScheduleView, Schemas } from "../../api/client";
import { useGet } from "../../api/hooks";
import { sessionNow } from "../../api/session";
import { Link } from "../../router";
import { bytesText, dateText, durationText, Empty } from "../../ui/parts";
import { Countdown } from "../../ui/show";
import { Frame } from "./parts";

const SHOWN = 6;

export function NextSchedules() {
  const got = useGet<Schemas["schedule_list"]>("/schedules", { most: 500 }, (event) => event.type === "flow");
  const due = (schedules: ScheduleView[]) =>
    schedules
      .filter((schedule) => schedule.next_ms && !schedule.paused)
      .sort((a, b) => (a.next_ms ?? 0) - (b.next_ms ?? 0))
      .slice(0, SHOWN);
  return (
    <Frame title="Next schedules" href="/schedules" got={got}>
      {({ schedules = [] }) =>
        due(schedules).length === 0 ? (
          <Empty>Nothing is scheduled.</Empty>
        ) : (
          <ul class="overview-list">
            {due(schedules).map((schedule) => (
              <li key={schedule.name}>
                <span class="grow">
                  <Link href={`/schedules?open=${encodeURIComponent(schedule.name ?? "")}`}>{schedule.name}</Link>
                  <small class="faint">{dateText(schedule.next_ms ?? 0)}</small>
                </span>
                <small class="faint"><Countdown ms={schedule.next_ms ?? 0} /></small>
              </li>
            ))}
          </ul>
        )
      }
    </Frame>
  );
}

const CLOCK_APART_S = 60;
const ROOM_BYTES_LOW = 1 << 30;
const LAG_FLOWS_HIGH = 10_000;

function Line({ good, name, children }: { good: boolean; name: string; children: ComponentChildren }) {
  return (
    <li data-health={name} data-good={good}>
      <span class={good ? "state-succeeded" : "state-timed_out"} aria-label={good ? "good" : "look at it"} role="img">{good ? "✓" : "!"}</span>
      <span class="grow"><span>{name}</span><small class="faint">{children}</small></span>
    </li>
  );
}

/** From the numbers that the stream brings anyway. */
export function Health({ numbers }: { numbers: Record<string, number> | undefined }) {
  if (sessionNow().tenant) return null; // these numbers are of all tenants
  const n = numbers ?? {};
  const room = n.journal_room_bytes;
  const syncMs = n.sync_count ? (n.sync_us_sum ?? 0) / n.sync_count / 1000 : undefined;
  const apart = n.clock_apart_seconds ?? 0;
  const lag = n.history_lag_flows ?? 0;
  return (
    <section class="card overview-part" aria-label="Server">
      <header>
        <h2>Server</h2>
        <small class="faint">version {sessionNow().version ?? "?"}</small>
      </header>
      {numbers === undefined ? null : (
        <ul class="overview-list">
          <Line name="Journal" good={room === undefined || room > ROOM_BYTES_LOW}>
            {syncMs === undefined ? "nothing written yet" : `durable after ${syncMs.toFixed(syncMs < 10 ? 1 : 0)} ms on average`}
            {room === undefined ? "" : `, ${bytesText(room)} free for new work`}
          </Line>
          <Line name="Disk" good>
            {`logs ${bytesText(n.log_bytes ?? 0)}, blobs ${bytesText(n.blob_bytes ?? 0)}, history ${bytesText(n.history_bytes ?? 0)}`}
          </Line>
          <Line name="History" good={lag < LAG_FLOWS_HIGH && !n.history_rebuilding}>
            {n.history_rebuilding ? "being rebuilt from the archive" : lag === 0 ? "up to date" : `${lag.toLocaleString()} flows behind`}
          </Line>
          <Line name="Clock" good={apart <= CLOCK_APART_S}>
            {apart <= CLOCK_APART_S ? "agrees with the journal" : `${durationText(apart * 1000)} apart from the journal's`}
          </Line>
        </ul>
      )}
      <p class="hint">Help: <kbd>?</kbd> here, <code>reeve help</code>, <code>man reeve</code>, and the guides in <code>docs/</code> of the source.</p>
    </section>
  );
}
