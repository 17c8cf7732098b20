// What the page knew last, for a reload while the server is dead and nobody can be asked.
import { useEffect } from "preact/hooks";

const PREFIX = "reeve.playground.";

export function keptOf<T>(name: string): T | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "null") as T | null) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: unknown): void {
  sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
}

/** The value, or the last one that there was. */
export function useKept<T>(name: string, value: T | undefined): T | undefined {
  useEffect(() => {
    if (value !== undefined) keep(name, value);
  }, [name, value]);
  return value ?? keptOf<T>(name);
}
