// The log of one attempt as it comes: one request that stays open while the attempt runs, made again from the last byte
// where the connection was cut.
import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, pathOf, send, urlOf } from "../../api/client";
import { LogMarks } from "./log_marks";
import { LogText } from "./log_text";

const AGAIN_MS = 1000;
const TAIL_BYTES = 16 << 20; // of a longer log the end is shown first

export interface LogState {
  log: LogText;
  version: number; // rises when there is more to show
  skippedBytes: number; // before what is shown
  baseBytes: number; // offset of its first byte
  over: boolean; // nothing more will come
  problem: ApiError | undefined;
}

/** Where to begin: at the beginning, or near the end of a long log. */
export function startOf(logBytes: number | undefined, whole: boolean): number {
  return whole || logBytes === undefined || logBytes <= TAIL_BYTES ? 0 : logBytes - TAIL_BYTES;
}

interface Reading {
  job: string;
  attempt: number;
  offset: number;
  signal: AbortSignal;
  take: (bytes: Uint8Array) => void;
  marks?: boolean;
}

async function readOn({ job, attempt, offset, signal, take, marks = false }: Reading): Promise<void> {
  const url = urlOf(`/jobs/${pathOf(job)}/logs`, { attempt, offset, follow: true, marks: marks || undefined });
  const answer = await send("GET", url, { signal });
  const reader = answer.body?.getReader();
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) return;
    take(part.value);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export function useLog(job: string, attempt: number, logBytes: number | undefined, whole: boolean): LogState {
  const skippedBytes = startOf(logBytes, whole);
  const [state, setState] = useState<LogState>(() => ({ log: new LogText(), version: 0, skippedBytes, baseBytes: skippedBytes, over: false, problem: undefined }));
  const frame = useRef(0);

  useEffect(() => {
    const abort = new AbortController();
    const log = new LogText();
    let cut = skippedBytes > 0; // the first line is not whole
    let read = skippedBytes;
    let baseBytes = skippedBytes;
    const show = (change: Partial<LogState>) => setState((last) => ({ ...last, log, skippedBytes, baseBytes, version: last.version + 1, ...change }));
    const showSoon = () => {
      if (frame.current === 0) frame.current = requestAnimationFrame(() => ((frame.current = 0), show({ problem: undefined })));
    };
    const take = (bytes: Uint8Array) => {
      read += bytes.length;
      const end = cut ? bytes.indexOf(0x0a) : -1;
      if (cut && end < 0) return;
      if (cut) baseBytes = read - bytes.length + end + 1;
      cut = false;
      log.append(bytes.subarray(end + 1));
      showSoon();
    };
    const run = async () => {
      while (!abort.signal.aborted) {
        try {
          await readOn({ job, attempt, offset: read, signal: abort.signal, take });
          show({ over: true, problem: undefined });
          return;
        } catch (error) {
          if (abort.signal.aborted) return;
          const problem = error instanceof ApiError ? error : new ApiError(0, "unreachable", "the connection was cut; going on from here");
          show({ problem });
          if (problem.status >= 400 && problem.status < 500) return;
          await pause(AGAIN_MS);
        }
      }
    };
    show({ over: false, problem: undefined });
    void run();
    return () => {
      abort.abort();
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, [job, attempt, skippedBytes]);
  return state;
}

/** The marks of the same bytes. They are an addition: without them the log is shown all the same. */
export function useMarks(job: string, attempt: number, offset: number): LogMarks {
  const [marks, setMarks] = useState(() => ({ of: new LogMarks() }));
  useEffect(() => {
    const abort = new AbortController();
    const of = new LogMarks();
    const decoder = new TextDecoder();
    let frame = 0;
    const take = (bytes: Uint8Array) => {
      of.append(decoder.decode(bytes, { stream: true }));
      if (frame === 0) frame = requestAnimationFrame(() => ((frame = 0), setMarks({ of })));
    };
    readOn({ job, attempt, offset, signal: abort.signal, take, marks: true }).catch(() => undefined);
    return () => {
      abort.abort();
      cancelAnimationFrame(frame);
    };
  }, [job, attempt, offset]);
  return marks.of;
}
