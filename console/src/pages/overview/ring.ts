// The server's numbers over time. The last ten minutes come by the stream, one tick a second, and outlive the page and a
// reload; what was before the page was opened the server remembers, one sample a minute.
import { get, type Schemas } from "../../api/client";
import { stream, type MetricsEvent } from "../../api/events";

export const RING_TICKS = 600;
const KEY = "reeve.metrics";
const GAP_STEPS = 3; // points further apart than so many steps are not joined: the server was away
const MINUTE_MS = 60_000;

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

/** What a chart shows: how far back, and how far apart its points are. */
export interface Span {
  name: string;
  label: string;
  ms: number;
  stepMs: number;
}

export const spans: Span[] = [
  { name: "10m", label: "10 min", ms: 10 * MINUTE_MS, stepMs: 1000 },
  { name: "1h", label: "1 h", ms: 60 * MINUTE_MS, stepMs: MINUTE_MS },
  { name: "24h", label: "24 h", ms: 24 * 60 * MINUTE_MS, stepMs: 15 * MINUTE_MS },
];

/** The samples of the server and the ticks of the page as one: at least a step apart, the newest always there. */
export function merged(past: readonly Tick[], ticks: readonly Tick[], span: Span, nowMs: number): Tick[] {
  const first = ticks[0]?.time_ms ?? Infinity;
  const all = [...past.filter((tick) => tick.time_ms < first), ...ticks].filter((tick) => tick.time_ms >= nowMs - span.ms - span.stepMs);
  const kept: Tick[] = [];
  for (const [i, tick] of all.entries())
    if (i === all.length - 1 || i === 0 || tick.time_ms - kept.at(-1)!.time_ms >= span.stepMs * 0.9) kept.push(tick);
  return kept;
}

export function seriesOf(ticks: readonly Tick[], measures: readonly Measure[], stepMs = MINUTE_MS): Series {
  const times: number[] = [];
  const values: (number | null)[][] = measures.map(() => []);
  for (let i = 1; i < ticks.length; i++) {
    const [before, now] = [ticks[i - 1]!, ticks[i]!];
    const seconds = (now.time_ms - before.time_ms) / 1000;
    const joined = seconds * 1000 <= GAP_STEPS * Math.max(stepMs, MINUTE_MS);
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
  past: Tick[] = []; // of the server
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

  remember(past: Tick[]): void {
    this.past = past;
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

/** Asks the server for its samples of this span, now and whenever a point is added to them; how to stop. */
export function keepPast(span: Span): () => void {
  const abort = new AbortController();
  const ask = () =>
    get<Schemas["numbers_past"]>(
      "/stats/history",
      { since_ms: Math.round(Date.now() + stream.clockSkewMs - span.ms - span.stepMs), step_ms: Math.max(MINUTE_MS, span.stepMs) - 1000 },
      abort.signal,
    ).then(
      (got) => ring.remember((got.samples ?? []).map((sample) => ({ time_ms: sample.time_ms ?? 0, numbers: sample.numbers ?? {} }))),
      () => undefined, // the frame says that the server does not answer; who belongs to a tenant sees what the stream tells
    );
  void ask();
  const timer = setInterval(() => void ask(), Math.max(MINUTE_MS, span.stepMs));
  return () => {
    clearInterval(timer);
    abort.abort();
  };
}
