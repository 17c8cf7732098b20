// The time slider: the flow as it was after any of its events. While it is scrubbed the page says so, and Live goes back.
import { useEffect, useState } from "preact/hooks";

import { Problem } from "../../ui/parts";
import type { FlowHistory } from "./history";
import { sentenceOf, type Past } from "./past";

const SPEEDS = [2, 8, 32, 128]; // events a second

const precise = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});

interface SliderProps {
  past: Past;
  history: FlowHistory;
  count: number | undefined; // events that are taken in; undefined: live
  onCount: (count: number | undefined) => void;
  onClose: () => void;
}

export function TimeSlider({ past, history, count, onCount, onClose }: SliderProps) {
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(SPEEDS[1]!);
  const at = count ?? past.length;
  const event = at > 0 ? past.event(at - 1) : undefined;

  useEffect(() => {
    if (!playing) return;
    const began = performance.now();
    const from = count ?? 0;
    let frame = requestAnimationFrame(function play(timeMs) {
      const next = Math.min(past.length, from + Math.floor(((timeMs - began) / 1000) * speed));
      onCount(next);
      if (next >= past.length) setPlaying(false);
      else frame = requestAnimationFrame(play);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, speed, past.length]);

  const step = (by: number) => {
    setPlaying(false);
    onCount(Math.max(0, Math.min(past.length, at + by)));
  };
  const play = () => {
    if (!playing && at >= past.length) onCount(0);
    setPlaying(!playing);
  };
  if (history.error !== undefined) return <Problem error={history.error} />;
  return (
    <section class={count === undefined ? "slider" : "slider scrubbed"} aria-label="Time slider">
      <div class="slider-row">
        <button type="button" aria-label="To the beginning" onClick={() => step(-past.length)}>
          |◂
        </button>
        <button type="button" aria-label="One event back" onClick={() => step(-1)}>
          ◂
        </button>
        <button type="button" class="primary" onClick={play}>
          {playing ? "Pause" : "Play"}
        </button>
        <button type="button" aria-label="One event forward" onClick={() => step(1)}>
          ▸
        </button>
        <input
          type="range"
          min={0}
          max={past.length}
          value={at}
          aria-label="Events of the flow"
          aria-valuetext={event === undefined ? "before the first event" : `${at} of ${past.length}: ${sentenceOf(event)}`}
          onInput={(input) => {
            setPlaying(false);
            onCount(Number(input.currentTarget.value));
          }}
        />
        <select aria-label="Speed" value={String(speed)} onChange={(choice) => setSpeed(Number(choice.currentTarget.value))}>
          {SPEEDS.map((each) => (
            <option key={each} value={String(each)}>
              {each}/s
            </option>
          ))}
        </select>
        <button
          type="button"
          disabled={count === undefined}
          onClick={() => {
            setPlaying(false);
            onCount(undefined);
          }}
        >
          Live
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="Close the time slider"
          onClick={() => {
            setPlaying(false);
            onClose();
          }}
        >
          ×
        </button>
      </div>
      <p class="slider-says" role="status">
        {count === undefined ? <b class="slider-live">Live</b> : <b class="slider-past">The past</b>}{" "}
        <span class="faint">
          {at.toLocaleString()} of {past.length.toLocaleString()}
          {history.complete ? "" : " and more to come"}
        </span>
        {event === undefined ? (
          <span>Before the first event</span>
        ) : (
          <>
            <code title="LSN.ordinal: where the journal has it">{event.position}</code>
            <time dateTime={new Date(event.time_ms).toISOString()}>{precise.format(event.time_ms)}</time>
            <span class="slider-event">{sentenceOf(event)}</span>
          </>
        )}
        {history.gap ? (
          <span class="slider-gap">The archive no longer has the beginning; jobs may stand differently from how they did.</span>
        ) : null}
      </p>
    </section>
  );
}
