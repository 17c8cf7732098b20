// The demo flow as cards: where each job stands, on which worker, which attempt, and why.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { Link, jobPath } from "../../router";
import { StateBadge, useNow } from "../../ui/parts";
import { explainJob, reasoning } from "./explain";
import { CARD_HEIGHT, CARD_WIDTH, cascadeDepth, placed, type DemoFlow, type DemoJob, type Placed } from "./facts";

const MARGIN = 16;
const CASCADE_MS = 80;
const TICK_MS = 250;

function Edge({ from, to, dead }: { from: Placed; to: Placed; dead: boolean }) {
  const a = { x: from.x + CARD_WIDTH / 2, y: from.y + CARD_HEIGHT };
  const b = { x: to.x + CARD_WIDTH / 2, y: to.y };
  const bend = (b.y - a.y) / 2;
  const active = ["running", "dispatched"].includes(to.job.state);
  const kind = dead ? "dim" : active ? "active" : from.job.state === "succeeded" ? "done" : "";
  return <path class={`stage-edge ${kind}`} d={`M${a.x},${a.y} C${a.x},${a.y + bend} ${b.x},${b.y - bend} ${b.x},${b.y}`} />;
}

interface CardProps {
  at: Placed;
  flow: DemoFlow;
  dead: boolean;
  nowMs: number;
  pointed: boolean;
  above: boolean; // where its explanation has room
  onPoint: (name: string | undefined) => void;
}

function Card({ at, flow, dead, nowMs, pointed, above, onPoint }: CardProps) {
  const { job } = at;
  const depth = job.state === "failed" && job.cause === "upstream" ? cascadeDepth(flow, job) : 0;
  const place = { left: `${at.x}px`, top: `${at.y}px`, animationDelay: `${depth * CASCADE_MS}ms` };
  return (
    <div class={`stage-card state-${job.state}${dead ? " frozen" : ""}${depth > 0 ? " cascade" : ""}`} style={place} tabIndex={0} data-demo-job={job.name} data-job-state={job.state}
      aria-describedby={pointed ? "stage-explanation" : undefined} onPointerEnter={() => onPoint(job.name)} onPointerLeave={() => onPoint(undefined)} onFocus={() => onPoint(job.name)} onKeyDown={(event) => event.key === "Escape" && onPoint(undefined)}>
      <span class="stage-top"><strong>{job.name}</strong><span class="faint">{job.attempt > 0 ? `${job.attempt}/${job.attemptsMax}` : ""}</span></span>
      <StateBadge state={job.state} />
      <span class="stage-why">{reasoning(flow, job, nowMs, dead)}{job.state === "running" && job.worker !== "" ? <span class="mono"> {job.worker}</span> : null}</span>
      {pointed ? <Explained flow={flow} job={job} nowMs={nowMs} dead={dead} above={above} /> : null}
    </div>
  );
}

function Explained({ flow, job, nowMs, dead, above }: { flow: DemoFlow; job: DemoJob; nowMs: number; dead: boolean; above: boolean }) {
  const { rule, text } = explainJob(flow, job, nowMs, dead);
  return <p class={above ? "stage-tip above" : "stage-tip"} id="stage-explanation" role="tooltip"><strong>{rule}.</strong> {text} <Link href={jobPath(`${flow.id}/${job.name}`)}>Its page</Link></p>;
}

export function Stage({ flow, dead }: { flow: DemoFlow; dead: boolean }) {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  const [pointed, setPointed] = useState<string>();
  const nowMs = useNow(TICK_MS);
  const places = useMemo(() => placed(flow.jobs), [flow]);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    watcher.observe(ref.current!);
    return () => watcher.disconnect();
  }, []);
  const left = Math.min(...places.map((at) => at.x));
  const right = Math.max(...places.map((at) => at.x)) + CARD_WIDTH;
  const bottom = Math.max(...places.map((at) => at.y)) + CARD_HEIGHT;
  const zoom = Math.min(1, (width - 2 * MARGIN) / (right - left));
  const shift = (width - (right - left) * zoom) / 2 - left * zoom;
  const byName = new Map(places.map((at) => [at.job.name, at]));
  return (
    <div class={dead ? "stage dead" : "stage"}>
      <p class="faint stage-hint">Point at a job, or go to it with Tab, to hear which rule decides what happens to it.</p>
      <div class="stage-area" ref={ref} style={{ height: `${bottom * zoom + 2 * MARGIN}px` }} role="group" aria-label={`Jobs of ${flow.id}`}>
        <div class="stage-inner" style={{ transform: `translate(${shift}px, ${MARGIN}px) scale(${zoom})` }}>
          <svg class="stage-edges" width="1" height="1" aria-hidden="true">
            {places.flatMap((to) => to.job.parents.map((parent) => {
              const from = byName.get(parent);
              return from === undefined ? null : <Edge key={`${parent}\n${to.job.name}`} from={from} to={to} dead={dead} />;
            }))}
          </svg>
          {places.map((at) => <Card key={at.job.name} at={at} flow={flow} dead={dead} nowMs={nowMs} pointed={at.job.name === pointed} above={at.y > bottom / 2} onPoint={setPointed} />)}
        </div>
      </div>
    </div>
  );
}
