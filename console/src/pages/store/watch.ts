// Changes of keys, as the server tells them: whoever shows keys hears of theirs. A connection that was cut is made again,
// by the browser or, after a refusal, by us; each begins with a `gap`: what came before is to be read.
import { useEffect, useRef, useState } from "preact/hooks";

import { urlOf } from "../../api/client";

const SETTLE_MS = 200; // a burst of changes is one request
const AGAIN_MS = 2000;

/** Calls `changed` when keys that begin so did change. True while they are heard of. */
export function useKeyChanges(prefix: string, flow: string, changed: () => void): boolean {
  const [live, setLive] = useState(false);
  const now = useRef(changed);
  now.current = changed;
  useEffect(() => {
    let source: EventSource;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    const connect = () => {
      source = new EventSource(urlOf("/store/events", { key: prefix || undefined, prefix: true, flow: flow || undefined }));
      source.onopen = () => setLive(true);
      source.onmessage = () => {
        timer ??= setTimeout(() => ((timer = undefined), now.current()), SETTLE_MS);
      };
      source.onerror = () => {
        setLive(false);
        if (source.readyState === EventSource.CLOSED) again = setTimeout(connect, AGAIN_MS);
      };
    };
    connect();
    return () => {
      clearTimeout(timer);
      clearTimeout(again);
      source.close();
    };
  }, [prefix, flow]);
  return live;
}
