// The draft survives a reload: it is kept in this browser until another one is begun.
import type { Draft } from "./draft";

const KEY = "reeve.draft";

export function keep(draft: Draft): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(draft));
  } catch {
    // a full or forbidden storage takes nothing from the page itself
  }
}

function isDraft(value: unknown): value is Draft {
  const draft = value as Partial<Draft> | null;
  const isJob = (job: Partial<Draft["jobs"][number]>) =>
    typeof job.name === "string" && typeof job.keys === "object" && Number.isFinite(job.x) && Number.isFinite(job.y);
  return typeof draft === "object" && draft !== null && typeof draft.flow === "object" && Array.isArray(draft.jobs) && draft.jobs.every(isJob);
}

export function kept(): Draft | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return isDraft(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
