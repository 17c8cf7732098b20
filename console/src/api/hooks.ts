// What pages ask of the server, kept fresh by its events.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError, get, type Query } from "./client";
import { stream, type MetricsEvent, type StreamEvent, type StreamState } from "./events";

export interface Loaded<T> {
  data: T | undefined;
  error: ApiError | undefined;
  loading: boolean;
  reload: () => void;
}

const SETTLE_MS = 150; // a burst of events is one request

/** A GET that is made again when `wakes` says that an event concerns it, after a gap, and when the server comes back. */
export function useGet<T>(path: string | null, query: Query = {}, wakes?: (event: StreamEvent) => boolean): Loaded<T> {
  const [data, setData] = useState<T>();
  const [error, setError] = useState<ApiError>();
  const [loading, setLoading] = useState(path !== null);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  const key = path === null ? null : path + JSON.stringify(query);

  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    setLoading(true);
    get<T>(path, query, abort.signal).then(
      (got) => {
        setData(got);
        setError(undefined);
        setLoading(false);
      },
      (why: unknown) => {
        if (abort.signal.aborted) return;
        setError(why instanceof ApiError ? why : new ApiError(0, "unknown", String(why)));
        setLoading(false);
      },
    );
    return () => abort.abort();
  }, [key, round]);

  useEffect(() => setData(undefined), [key]);

  const wakesNow = useRef(wakes);
  wakesNow.current = wakes;
  useEffect(() => {
    if (key === null || wakesNow.current === undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = stream.listen((event) => {
      const concerns = event.type === "gap" || event.type === "hello" || wakesNow.current?.(event) === true;
      if (concerns && timer === undefined)
        timer = setTimeout(() => {
          timer = undefined;
          reload();
        }, SETTLE_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [key]);

  return { data, error, loading, reload };
}

export function useEvents(listener: (event: StreamEvent) => void): void {
  const now = useRef(listener);
  now.current = listener;
  useEffect(() => stream.listen((event) => now.current(event)), []);
}

export function useStreamState(): StreamState {
  const [state, setState] = useState(stream.state);
  useEffect(() => stream.watch(setState), []);
  return state;
}

/** The last tick of the server's numbers. */
export function useMetrics(): MetricsEvent | undefined {
  const [tick, setTick] = useState<MetricsEvent>();
  useEvents((event) => {
    if (event.type === "metrics") setTick(event);
  });
  return tick;
}
