// The life of a version of a service as stretches of time: healthy, starting or not healthy, down.
export interface LifeEvent {
  type?: string;
  time_ms?: number;
  to?: string;
}

export type Health = "healthy" | "unhealthy" | "down";

export interface Stretch {
  health: Health;
  from: number;
  to: number;
}

function healthAfter(event: LifeEvent): Health | undefined {
  if (event.type === "service") return event.to === "healthy" ? "healthy" : "unhealthy";
  if (event.type !== "job") return undefined;
  return event.to === "running" || event.to === "dispatched" ? "unhealthy" : "down"; // it runs, and nothing was said of it yet
}

/** From the first event on until `now`; stretches of no length are left out. */
export function stretchesOf(events: readonly LifeEvent[], now: number): Stretch[] {
  const all: Stretch[] = [];
  for (const event of events) {
    const health = healthAfter(event);
    const last = all.at(-1);
    if (health === undefined || event.time_ms === undefined || last?.health === health) continue;
    if (last) last.to = event.time_ms;
    all.push({ health, from: event.time_ms, to: now });
  }
  return all.filter((stretch) => stretch.to > stretch.from);
}

/** The share of the time in which it was healthy, 0 to 1. */
export function healthyShare(stretches: readonly Stretch[]): number {
  const length = (of: readonly Stretch[]) => of.reduce((sum, stretch) => sum + stretch.to - stretch.from, 0);
  const all = length(stretches);
  return all === 0 ? 0 : length(stretches.filter((stretch) => stretch.health === "healthy")) / all;
}
