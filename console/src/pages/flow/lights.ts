// A cascade reaches hundreds of jobs in one record. The page lights them one after the other, in the order in which the
// failure went through them, so that the eye can follow; until its turn comes a job is shown as it was before.
import type { JobNow } from "./model";

export const LIGHT_MS = 80; // from one job to the next
const CASCADE_MS_MAX = 6000; // a large cascade goes quicker
const GLOW_MS = 900;

interface Light {
  atMs: number;
  before: JobNow | undefined; // shown until then
}

export class Lights {
  private readonly lights = new Map<number, Light>();
  private lastMs = 0;

  /** The jobs light one by one, beginning now or behind those that are still to come. */
  cascade(jobs: readonly { index: number; before: JobNow | undefined }[], nowMs: number): void {
    const each = Math.min(LIGHT_MS, CASCADE_MS_MAX / Math.max(1, jobs.length));
    let atMs = Math.max(nowMs, Math.min(this.lastMs + each, nowMs + CASCADE_MS_MAX));
    for (const { index, before } of jobs) {
      this.lights.set(index, { atMs, before });
      this.lastMs = atMs;
      atMs += each;
    }
  }

  /** One job, at once. */
  flash(index: number, nowMs: number): void {
    this.lights.set(index, { atMs: nowMs, before: undefined });
  }

  shown(index: number, now: JobNow, nowMs: number): JobNow {
    const light = this.lights.get(index);
    return light?.before !== undefined && nowMs < light.atMs ? light.before : now;
  }

  /** 1 when it has just been lit, 0 when that is over. */
  glow(index: number, nowMs: number): number {
    const light = this.lights.get(index);
    if (light === undefined || nowMs < light.atMs) return 0;
    return Math.max(0, 1 - (nowMs - light.atMs) / GLOW_MS);
  }

  indices(): Iterable<number> {
    return this.lights.keys();
  }

  /** False when nothing moves any more. */
  active(nowMs: number): boolean {
    for (const [index, light] of this.lights) if (nowMs > light.atMs + GLOW_MS) this.lights.delete(index);
    return this.lights.size > 0;
  }

  clear(): void {
    this.lights.clear();
    this.lastMs = 0;
  }
}
