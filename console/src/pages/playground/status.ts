// The server whose plug can be pulled. While it lives its events say when to ask; while it is dead there are none, and
// the supervisor is asked again and again until it is back.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError, get, post } from "../../api/client";
import { stream } from "../../api/events";
import { useEvents, useStreamState } from "../../api/hooks";

export interface Recovery {
  records: number;
  flows: number;
  jobs: number;
  attempts_open?: number;
  attempts_adopted: number;
  attempts_again: number;
  lost: number;
  took_ms: number;
  replayed_lsn: number;
}

export interface Playground {
  server: "running" | "dead" | "starting";
  pid?: number;
  since_ms: number;
  restart_in_ms?: number;
  kills: number;
  recovery?: Recovery;
}

export interface PlaygroundState {
  now: Playground | undefined;
  heardMs: number; // by this browser's clock
  missing: string; // why there is none; "" while there is, or nobody knows yet
  kill: () => Promise<void>;
  recover: () => Promise<void>;
}

const ASK_MS = 400;
const SETTLES_MS = 60_000; // workers come back within a lease

/** Attempts that were open when it died and of which nobody knows yet how they went on. */
export function unsettled(recovery: Recovery | undefined): number {
  if (recovery === undefined) return 0;
  return Math.max(0, (recovery.attempts_open ?? 0) - recovery.attempts_adopted - recovery.attempts_again);
}

export function usePlayground(): PlaygroundState {
  const [now, setNow] = useState<Playground>();
  const [heardMs, setHeard] = useState(0);
  const [missing, setMissing] = useState("");
  const streaming = useStreamState();
  const known = useRef<Playground | undefined>(undefined);
  const asking = useRef(false);

  const ask = useCallback(async () => {
    if (asking.current) return;
    asking.current = true;
    try {
      const got = await get<Playground>("/playground");
      const back = got.server === "running" && known.current !== undefined && known.current.server !== "running";
      known.current = got;
      setNow(got);
      setHeard(Date.now());
      setMissing("");
      if (back) stream.connect();
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) setMissing(error.message);
    } finally {
      asking.current = false;
    }
  }, []);

  useEvents((event) => {
    if (event.type === "hello" || event.type === "worker") void ask();
  });
  const settling = now !== undefined && unsettled(now.recovery) > 0 && Date.now() - now.since_ms < SETTLES_MS;
  const restless = missing === "" && (now === undefined || now.server !== "running" || streaming !== "open" || settling);
  useEffect(() => {
    void ask();
    if (!restless) return;
    const timer = setInterval(() => void ask(), ASK_MS);
    return () => clearInterval(timer);
  }, [restless]);

  const doing = async (what: string) => {
    await post(`/playground/${what}`);
    await ask();
  };
  return { now, heardMs, missing, kill: () => doing("kill"), recover: () => doing("recover") };
}
