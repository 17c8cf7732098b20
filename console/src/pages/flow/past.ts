// The flow as it was: its events from its birth on, and where all its jobs stood after any of them.
import type { ChangeEvent } from "../../api/events";
import { newborn, step, type FlowGraph, type JobNow } from "./model";

export interface Moment {
  now: JobNow[];
  flowState: string;
  changed: number; // the job that the last event changed, -1: none
}

export class Past {
  private readonly events: readonly ChangeEvent[];
  private at = 0; // events that `moment` has taken in
  private moment: Moment;

  constructor(
    private readonly graph: FlowGraph,
    events: readonly ChangeEvent[],
    private readonly createdMs: number,
  ) {
    this.events = events.filter((event) => event.type === "job" || event.type === "flow");
    this.moment = this.birth();
  }

  get length(): number {
    return this.events.length;
  }

  event(index: number): ChangeEvent | undefined {
    return this.events[index];
  }

  /** After the first `count` events. Forward it goes on from where it was, back it begins anew. */
  after(count: number): Moment {
    const wanted = Math.max(0, Math.min(count, this.events.length));
    if (wanted < this.at) {
      this.at = 0;
      this.moment = this.birth();
    }
    const moment: Moment = { ...this.moment, now: this.moment.now.slice(), changed: -1 };
    for (; this.at < wanted; this.at++) {
      const event = this.events[this.at]!;
      moment.changed = step(this.graph, moment.now, event);
      if (event.type === "flow") moment.flowState = event.to ?? moment.flowState;
    }
    this.moment = moment;
    return moment;
  }

  /** How many events lie at or before the time. */
  countAt(timeMs: number): number {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.events[middle]!.time_ms <= timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private birth(): Moment {
    return { now: this.graph.nodes.map((node) => newborn(node, this.createdMs)), flowState: "running", changed: -1 };
  }
}

/** What happened in one event, as a sentence. */
export function sentenceOf(event: ChangeEvent): string {
  const name = event.type === "flow" ? "The flow" : event.target.slice(event.target.indexOf("/") + 1);
  const cause = event.cause && event.cause !== "none" ? ` (${event.cause.replaceAll("_", " ")})` : "";
  if (event.type === "flow") return `${name} is ${event.to ?? "changed"}${cause}`;
  const worker = event.worker ? ` on ${event.worker}` : "";
  const attempt = event.attempt && event.attempt > 1 ? `, attempt ${event.attempt}` : "";
  return `${name}: ${event.from ?? "new"} → ${event.to ?? "?"}${cause}${worker}${attempt}`;
}
