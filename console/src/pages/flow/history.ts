// The events of a flow from its birth on, for the time slider: asked for in pages when the slider is opened, then
// continued by what the stream says.
import { useEffect, useState } from "preact/hooks";

import { ApiError, get } from "../../api/client";
import { comparePositions, type ChangeEvent } from "../../api/events";
import type { FlowStore } from "./store";

const PAGE_EVENTS = 10_000; // each page replays the archive: few and large

export interface FlowHistory {
  events: readonly ChangeEvent[];
  complete: boolean; // all up to now are there
  gap: boolean; // the archive no longer has the beginning
  error: ApiError | undefined;
}

interface EventPage {
  events?: ChangeEvent[];
  cursor?: string;
  gap?: boolean;
}

const none: FlowHistory = { events: [], complete: false, gap: false, error: undefined };

export function useHistory(store: FlowStore, open: boolean): FlowHistory {
  const [history, setHistory] = useState(none);
  const flow = store.view?.flow;
  useEffect(() => {
    if (!open || flow === undefined) return;
    const abort = new AbortController();
    const events: ChangeEvent[] = [];
    const show = (changes: Partial<FlowHistory>) => setHistory((old) => ({ ...old, events: events.slice(), ...changes }));
    let frame = 0;
    const heard: ChangeEvent[] = [];
    const take = (event: ChangeEvent) => {
      const last = events.at(-1)?.position ?? "";
      if (last === "" || comparePositions(event.position, last) > 0) events.push(event);
    };
    let complete = false;
    const hear = (event: ChangeEvent) => {
      if (!complete) return void heard.push(event);
      take(event);
      if (frame === 0)
        frame = requestAnimationFrame(() => {
          frame = 0;
          show({});
        });
    };
    store.onEvent.add(hear);
    const load = async () => {
      let since: string | undefined;
      for (;;) {
        const page: EventPage = await get<EventPage>(
          `/flows/${encodeURIComponent(flow)}/events`,
          { most: PAGE_EVENTS, since },
          abort.signal,
        );
        for (const event of page.events ?? []) take(event);
        if (page.gap === true) show({ gap: true });
        since = page.cursor;
        if (since === undefined) break;
        show({});
      }
      complete = true;
      for (const event of heard) take(event);
      show({ complete: true });
    };
    load().catch((why: unknown) => {
      if (!abort.signal.aborted) show({ error: why instanceof ApiError ? why : new ApiError(0, "unknown", String(why)) });
    });
    return () => {
      store.onEvent.delete(hear);
      abort.abort();
      cancelAnimationFrame(frame);
    };
  }, [open, flow, store]);
  return open ? history : none;
}
