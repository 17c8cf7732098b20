// A live plot of the numbers, over the span that the page shows.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef, useState } from "preact/hooks";

import { THEME_CHANGED, colour } from "../../ui/theme";
import { serverNow } from "../../ui/parts";
import { merged, ring, seriesOf, type Measure, type Series, type Span } from "./ring";

export interface Line {
  label: string;
  colour: string; // a variable of style.css
  measure: Measure;
}

interface PlotProps {
  title: string;
  lines: Line[];
  text: (value: number) => string;
  span: Span;
  least: number; // the scale reaches up to this at least, so that noise near 0 does not look like a mountain
}

const STEPS = [1, 2, 5]
  .map((step) => step / 10)
  .concat([0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power)));
const HEIGHT_PX = 132;

const SHOWN_MS_LEAST = 60_000;

/** The span, or as much of it as is known: a server that has just started has no day yet. */
function shownRange(span: Span, firstS: number | null): [number, number] {
  const now = serverNow();
  const known = Math.min((firstS ?? Infinity) * 1000, now - SHOWN_MS_LEAST);
  return [Math.max(now - span.ms, known) / 1000, now / 1000];
}

const timeText = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

function optionsOf({ lines, text, least, span }: PlotProps, width: number): uPlot.Options {
  const grid = { stroke: colour("line"), width: 1 };
  const axis: uPlot.Axis = { stroke: colour("faint"), grid, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false }, sync: { key: "overview" } },
    padding: [8, 20, 0, 0], // the last time is not cut
    scales: {
      x: { time: true, range: (_, min) => shownRange(span, min as number | null) },
      y: { range: (_, __, max) => [0, Math.max(least, (max ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 22,
        space: 70,
        values: (_, ticks) => ticks.map((tick) => timeText.format(new Date(tick * 1000))),
      },
      { ...axis, size: 52, space: 30, incrs: STEPS, values: (_, ticks) => ticks.map(text) },
    ],
    series: [
      {},
      ...lines.map((line): uPlot.Series => ({
        label: line.label,
        stroke: colour(line.colour),
        fill: `color-mix(in srgb, ${colour(line.colour)} 12%, transparent)`,
        width: 1.75,
        points: { show: false },
        spanGaps: false,
      })),
    ],
  };
}

const lastOf = (series: Series, line: number) => series[line + 1]?.at(-1) ?? null;

export function Plot(props: PlotProps) {
  const { title, lines, text, span } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const measures = lines.map((line) => line.measure);
  const latest = () => seriesOf(ring.ticks.slice(-2), measures);
  const drawn = () => seriesOf(merged(ring.past, ring.ticks, span, serverNow()), measures, span.stepMs);
  const [now, setNow] = useState<Series>(latest);
  useEffect(() => {
    const element = box.current!;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(props, element.clientWidth), drawn(), element);
    };
    const draw = () => {
      const series = drawn();
      plot.current?.setData(series);
      element.dataset.points = String(series[0].length); // for tests
    };
    make();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resized.observe(element);
    addEventListener(THEME_CHANGED, make);
    const unwatch = ring.watch(() => {
      setNow(latest());
      draw();
    });
    draw();
    return () => {
      unwatch();
      resized.disconnect();
      removeEventListener(THEME_CHANGED, make);
      plot.current?.destroy();
    };
  }, [span]);
  const says = lines.map((line, i) => {
    const value = lastOf(now, i);
    return { ...line, value: value === null ? "–" : text(value) };
  });
  return (
    <figure class="plot card" aria-label={`${title}: ${says.map((line) => `${line.label} ${line.value}`).join(", ")}`}>
      <figcaption>
        <strong>{title}</strong>
        <span class="plot-key">
          {says.map((line) => (
            <span key={line.label}>
              <i style={{ background: `var(--${line.colour})` }} aria-hidden="true" />
              {line.label} <b>{line.value}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={box} class="plot-box" aria-hidden="true" />
    </figure>
  );
}
