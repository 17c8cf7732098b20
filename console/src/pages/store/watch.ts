// Changes of keys, as the server tells them: whoever shows keys hears of theirs. A connection that was cut is made again;
// each begins with a `gap`: what came before is to be read. Not by EventSource, which has no headers of ours.
import { useEffect, useRef, useState } from "preact/hooks";

import { send, urlOf } from "../../api/client";

const SETTLE_MS = 200; // a burst of changes is one request
const AGAIN_MS = 2000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Server-sent events: `heard` for each line of data. Returns when the server has no more. */
async function readEvents(url: string, signal: AbortSignal, onLive: (live: boolean) => void, heard: () => void): Promise<void> {
  const answer = await send("GET", url, { signal });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  onLive(true);
  let rest = "";
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) return;
    const lines = (rest + part.value).split("\n");
    rest = lines.pop() ?? "";
    if (lines.some((line) => line.startsWith("data:"))) heard();
  }
}

/** Calls `changed` when keys that begin so did change. True while they are heard of. */
export function useKeyChanges(prefix: string, flow: string, changed: () => void): boolean {
  const [live, setLive] = useState(false);
  const now = useRef(changed);
  now.current = changed;
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      timer ??= setTimeout(() => ((timer = undefined), now.current()), SETTLE_MS);
    };
    const run = async () => {
      while (!abort.signal.aborted) {
        await readEvents(urlOf("/store/events", { key: prefix || undefined, prefix: true, flow: flow || undefined }), abort.signal, setLive, heard).catch(() => undefined);
        if (abort.signal.aborted) return;
        setLive(false);
        await pause(AGAIN_MS);
      }
    };
    void run();
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [prefix, flow]);
  return live;
}
