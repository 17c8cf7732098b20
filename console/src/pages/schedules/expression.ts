// What is typed about when, as the server takes it: "cron 30 3 * * *; zone Europe/Berlin".

export type When = "cron" | "every" | "at" | "key";

/** Whether the clock starts it; else a key of the store does, which is no expression. */
export function isClock(when: When): boolean {
  return when !== "key";
}

export interface Typed {
  when: When;
  value: string;
  zone: string; // of cron only: an interval has none, a moment says its own
}

export function expressionOf({ when, value, zone }: Typed): string {
  const rest = when === "cron" && zone.trim() !== "" ? `; zone ${zone.trim()}` : "";
  return `${when} ${value.trim()}${rest}`;
}

/** What a field for local time holds, as a moment that says its offset. */
export function momentOf(local: string): string {
  return new Date(local).toISOString().replace(/\.\d+Z$/, "Z");
}
