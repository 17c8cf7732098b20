// The last ten minutes of the server's numbers, one tick a second. It outlives the page that shows it, and a reload.
import { stream, type MetricsEvent } from "../../api/events";

export const RING_TICKS = 600;
const KEY = "reeve.metrics";
const GAP_MS = 5000; // ticks further apart than this are not joined: nobody was looking, or the server was away

export interface Tick {
  time_ms: number;
  numbers: Record<string, number>;
}

/** Seconds since 1970 and values, as uPlot wants them; null where nothing is known. */
export type Series = [times: number[], ...values: (number | null)[][]];

export type Measure = (now: Record<string, number>, before: Record<string, number>, seconds: number) => number | null;

export const gauge =
  (...names: string[]): Measure =>
  (now) =>
    names.reduce((sum, name) => sum + (now[name] ?? 0), 0);

/** Per second, of counters. A counter that went back belongs to another process: nothing is known then. */
export const rate =
  (...names: string[]): Measure =>
  (now, before, seconds) => {
    const change = names.reduce((sum, name) => sum + (now[name] ?? 0) - (before[name] ?? 0), 0);
    return change < 0 || seconds <= 0 ? null : change / seconds;
  };

/** The mean of what was counted between two ticks; null: nothing was. */
export const mean =
  (sum: string, count: string): Measure =>
  (now, before) => {
    const counted = (now[count] ?? 0) - (before[count] ?? 0);
    return counted <= 0 ? null : ((now[sum] ?? 0) - (before[sum] ?? 0)) / counted;
  };

export function seriesOf(ticks: readonly Tick[], measures: readonly Measure[]): Series {
  const times: number[] = [];
  const values: (number | null)[][] = measures.map(() => []);
  for (let i = 1; i < ticks.length; i++) {
    const [before, now] = [ticks[i - 1]!, ticks[i]!];
    const seconds = (now.time_ms - before.time_ms) / 1000;
    const joined = seconds * 1000 <= GAP_MS;
    if (!joined) {
      times.push(before.time_ms / 1000 + 1);
      values.forEach((list) => list.push(null));
    }
    times.push(now.time_ms / 1000);
    measures.forEach((measure, m) => values[m]!.push(joined ? measure(now.numbers, before.numbers, seconds) : null));
  }
  return [times, ...values];
}

export class Ring {
  ticks: Tick[] = [];
  private readonly watchers = new Set<() => void>();

  add(tick: Tick): void {
    const last = this.ticks.at(-1);
    if (last !== undefined && tick.time_ms <= last.time_ms) return;
    const from = tick.time_ms - RING_TICKS * 1000;
    this.ticks = [...this.ticks.filter((old) => old.time_ms >= from), { time_ms: tick.time_ms, numbers: tick.numbers }].slice(
      -RING_TICKS,
    );
    for (const watcher of [...this.watchers]) watcher();
  }

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }
}

export const ring = new Ring();

/** Listens from the first call on, for as long as the page is open. */
let listening = false;
export function keepRing(): void {
  if (listening) return;
  listening = true;
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as Tick[];
    for (const tick of kept) ring.add(tick);
  } catch {
    // what another version kept is not needed
  }
  stream.listen((event) => {
    if (event.type === "metrics") ring.add(event satisfies MetricsEvent);
  });
  addEventListener("pagehide", () => sessionStorage.setItem(KEY, JSON.stringify(ring.ticks)));
}
