// The event stream as it comes: what the journal's records did, each with its position.
import { useEffect, useRef, useState } from "preact/hooks";

import type { ChangeEvent } from "../../api/events";
import { useEvents } from "../../api/hooks";
import { explainEvent } from "./explain";

const KEPT = 500;
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

const line = (event: ChangeEvent): string =>
  [event.type, event.target, event.from === undefined ? "" : `${event.from} → ${event.to}`, event.cause, event.worker].filter(Boolean).join(" ");

function Row({ event, onPoint }: { event: ChangeEvent; onPoint: (event: ChangeEvent) => void }) {
  return (
    <li tabIndex={0} class={`event state-${event.to ?? ""}`} data-position={event.position} title={explainEvent(event)} onPointerEnter={() => onPoint(event)} onFocus={() => onPoint(event)}>
      <span class="event-time">{clock.format(event.time_ms)}</span>
      <span class="event-position">{event.position}</span>
      <span class="event-type">{event.type}</span>
      <span class="event-target">{event.target}</span>
      <span class="event-change">{event.from ? `${event.from} → ` : ""}<b>{event.to}</b>{event.cause ? ` · ${event.cause}` : ""}</span>
      <span class="event-rest">{event.attempt ? `#${event.attempt}` : ""} {event.worker ?? ""}</span>
    </li>
  );
}

export function EventPanel() {
  const [events, setEvents] = useState<ChangeEvent[]>([]);
  const [paused, setPaused] = useState(false);
  const [filter, setFilter] = useState("");
  const [pointed, point] = useState<ChangeEvent>();
  const waiting = useRef<ChangeEvent[]>([]); // while it is paused
  const list = useRef<HTMLUListElement>(null);
  const stuck = useRef(true); // at the end; who scrolls up stays where they are

  useEvents((event) => {
    if (event.type === "metrics" || event.type === "hello" || event.type === "gap") return;
    if (paused) waiting.current = [...waiting.current, event].slice(-KEPT);
    else setEvents((all) => [...all, event].slice(-KEPT));
  });
  const goOn = () => {
    setEvents((all) => [...all, ...waiting.current].slice(-KEPT));
    waiting.current = [];
    setPaused(false);
  };
  useEffect(() => {
    if (stuck.current && list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  }, [events]);

  const wanted = filter.trim().toLowerCase();
  const shown = wanted === "" ? events : events.filter((event) => line(event).toLowerCase().includes(wanted));
  return (
    <section class="card event-panel" aria-label="Event stream">
      <header class="panel-head">
        <h2>Event stream</h2>
        <input type="search" placeholder="Filter" aria-label="Filter events" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        <button type="button" aria-pressed={paused} onClick={() => (paused ? goOn() : setPaused(true))}>{paused ? `Go on (${waiting.current.length})` : "Pause"}</button>
        <button type="button" onClick={() => setEvents([])}>Clear</button>
      </header>
      <ul class="event-list mono" ref={list} onScroll={(event) => {
        const box = event.currentTarget;
        stuck.current = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
      }}>
        {shown.map((event) => <Row key={event.position} event={event} onPoint={point} />)}
      </ul>
      {shown.length === 0 ? <p class="empty">{events.length === 0 ? "Nothing happened since this page was opened. Run a flow." : "No event fits the filter."}</p> : null}
      <p class="event-explanation">{pointed === undefined ? "Each line is a change that a record of the journal made. Point at one to hear what it means." : explainEvent(pointed)}</p>
    </section>
  );
}
