// The event stream: one WebSocket for the whole page. It resumes behind the last position that was seen, so that a cut
// connection or a server that was killed leaves no gap and repeats nothing; what cannot be had any more is said by a
// `gap`, upon which whoever shows state fetches it anew.
import { csrfNow, urlOf } from "./client";

export interface ChangeEvent {
  type: "flow" | "job" | "worker" | "service";
  position: string; // LSN.ORDINAL
  time_ms: number;
  target: string;
  from?: string;
  to?: string;
  cause?: string;
  attempt?: number;
  worker?: string;
  due_ms?: number;
  schedule?: string; // of a flow that it made
}
export interface MetricsEvent {
  type: "metrics";
  time_ms: number;
  numbers: Record<string, number>;
}
export interface GapEvent {
  type: "gap";
  position: string;
  dropped?: number;
}
export interface HelloEvent {
  type: "hello";
  position: string;
  server_time_ms: number;
}
export type StreamEvent = ChangeEvent | MetricsEvent | GapEvent | HelloEvent;

export type StreamState = "connecting" | "open" | "waiting";

const RETRY_MS_FIRST = 250;
const RETRY_MS_MAX = 5000;

/** -1, 0, 1 as a is before, at or behind b. */
export function comparePositions(a: string, b: string): number {
  const [aLsn = 0, aOrdinal = 0] = a.split(".").map(Number);
  const [bLsn = 0, bOrdinal = 0] = b.split(".").map(Number);
  return Math.sign(aLsn - bLsn || aOrdinal - bOrdinal);
}

export class EventStream {
  state: StreamState = "waiting";
  position = ""; // of the last event that was seen
  clockSkewMs = 0; // the server's clock minus ours
  private socket: WebSocket | null = null;
  private retryMs = RETRY_MS_FIRST;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<(event: StreamEvent) => void>();
  private readonly watchers = new Set<(state: StreamState) => void>();

  /** Hears everything from now on; returns how to stop. */
  listen(listener: (event: StreamEvent) => void): () => void {
    this.listeners.add(listener);
    if (this.socket === null && this.timer === undefined) this.connect();
    return () => this.listeners.delete(listener);
  }

  watch(watcher: (state: StreamState) => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** Now, not when the next try is due. */
  connect(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.socket !== null) return;
    const url = new URL(urlOf("/events", { since: this.position || undefined }), location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const csrf = csrfNow(); // a WebSocket has no headers of ours, but names of protocols
    const socket = csrf === "" ? new WebSocket(url) : new WebSocket(url, ["reeve", `csrf.${csrf}`]);
    this.socket = socket;
    this.enter("connecting");
    socket.onopen = () => this.enter("open");
    socket.onmessage = (message) => this.take(JSON.parse(message.data as string) as StreamEvent);
    socket.onclose = () => this.closed(socket);
  }

  private closed(socket: WebSocket): void {
    if (this.socket !== socket) return;
    this.socket = null;
    this.enter("waiting");
    this.timer = setTimeout(() => this.connect(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, RETRY_MS_MAX);
  }

  private take(event: StreamEvent): void {
    this.retryMs = RETRY_MS_FIRST;
    if (event.type === "hello") {
      this.clockSkewMs = event.server_time_ms - Date.now();
      if (this.position === "") this.position = event.position;
    } else if (event.type !== "metrics") {
      this.position = event.position;
    }
    for (const listener of [...this.listeners]) listener(event);
  }

  private enter(state: StreamState): void {
    this.state = state;
    for (const watcher of [...this.watchers]) watcher(state);
  }
}

export const stream = new EventStream();
