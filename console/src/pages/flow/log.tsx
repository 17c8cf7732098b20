// What all jobs of a flow wrote, as one log. Of each job the end is shown; its name leads to the whole.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { pathOf, send, urlOf } from "../../api/client";
import { Link, jobPath, setQuery } from "../../router";
import { countText, Empty } from "../../ui/parts";
import { LogMarks } from "../job/log_marks";
import { LogText } from "../job/log_text";
import { mergeLogs, type FlowLine, type JobLog } from "./log_merge";
import { isActive, type Attempt, type FlowGraph, type JobNow } from "./model";
import { VirtualRows } from "./rows";

const TAIL_BYTES = 65_536; // of a job
const JOBS_MAX = 200; // those that began last
const AGAIN_MS = 1500; // while a job runs
const AT_ONCE = 4;
const ROW_PX = 20;

interface Read extends JobLog {
  attempt: number;
  next: number; // offset of what is not read yet
  isWhole: boolean; // its attempt was over before it was read
}

async function bytesOf(target: string, query: Record<string, string | number | boolean | undefined>): Promise<Uint8Array> {
  return new Uint8Array(await (await send("GET", urlOf(`/jobs/${pathOf(target)}/logs`, query))).arrayBuffer());
}

/** Reads on where it ended last; the first time the end of the log. Marks come first: they tell where the bytes begin. */
async function readOn(flow: string, read: Read): Promise<void> {
  const target = `${flow}/${read.job}`;
  const isFirst = read.next === 0;
  const from = isFirst ? { tail_bytes: TAIL_BYTES } : { offset: read.next };
  const marks = new TextDecoder().decode(await bytesOf(target, { attempt: read.attempt, ...from, marks: true }));
  const first = /"offset":(\d+)/.exec(marks);
  if (first === null) return;
  const offset = Number(first[1]);
  const end = marks.trimEnd().split("\n").reduce((last, line) => Math.max(last, endOf(line)), offset);
  read.marks.append(marks);
  if (isFirst) read.baseBytes = offset;
  read.log.append(await bytesOf(target, { attempt: read.attempt, offset: isFirst ? offset : read.next, most: end - (isFirst ? offset : read.next) }));
  read.next = end;
}

function endOf(line: string): number {
  const mark = JSON.parse(line) as { offset: number; bytes: number };
  return mark.offset + mark.bytes;
}

interface FlowLogProps {
  graph: FlowGraph;
  now: readonly JobNow[];
  attempts: readonly Attempt[][];
  query: URLSearchParams;
}

/** The jobs that have begun, the last attempt of each. */
function begunJobs({ graph, attempts, now }: FlowLogProps): { job: string; attempt: number; active: boolean }[] {
  const begun = graph.nodes.flatMap((node, i) => {
    const last = attempts[i]?.at(-1);
    return last === undefined ? [] : [{ job: node.name, attempt: last.attempt, atMs: last.assignedMs, active: isActive(now[i]?.state ?? "") }];
  });
  return begun.sort((a, b) => b.atMs - a.atMs).slice(0, JOBS_MAX);
}

function useLogs(props: FlowLogProps): { lines: FlowLine[]; isLoading: boolean } {
  const reads = useRef(new Map<string, Read>());
  const [shown, setShown] = useState<{ lines: FlowLine[]; isLoading: boolean }>({ lines: [], isLoading: true });
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let wanted = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const round = async () => {
      const left = begunJobs(latest.current).filter(({ job, attempt }) => reads.current.get(`${job}#${attempt}`)?.isWhole !== true);
      const work = async () => {
        for (let next = left.shift(); next !== undefined && wanted; next = left.shift()) {
          const { job, attempt, active } = next;
          const key = `${job}#${attempt}`;
          const read = reads.current.get(key) ?? { job, attempt, next: 0, isWhole: false, log: new LogText(), marks: new LogMarks(), baseBytes: 0 };
          reads.current.set(key, read);
          await readOn(latest.current.graph.flow, read).catch(() => undefined); // tried again in the next round
          read.isWhole = !active;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (!wanted) return;
      setShown({ lines: mergeLogs([...reads.current.values()]), isLoading: false });
      timer = setTimeout(() => void round(), AGAIN_MS);
    };
    void round();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, []);
  return shown;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hourCycle: "h23" });

export function FlowLog(props: FlowLogProps) {
  const { graph, query } = props;
  const { lines, isLoading } = useLogs(props);
  const text = (query.get("q") ?? "").toLowerCase();
  const shown = useMemo(() => lines.filter((line) => text === "" || line.text.toLowerCase().includes(text) || line.job.toLowerCase().includes(text)), [lines, text]);
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current && scroller.current !== null) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [shown.length]);
  const row = (at: number) => {
    const line = shown[at]!;
    return (
      <div key={`${line.job} ${line.line}`} class={line.isErr ? "flow-log-row err" : "flow-log-row"} role="row" style={{ height: `${ROW_PX}px` }}>
        <time role="cell" class="faint">{line.timeMs > 0 ? clock.format(line.timeMs) : ""}</time>
        <span role="cell"><Link href={`${jobPath(`${graph.flow}/${line.job}`)}?view=log`} title={line.job}>{line.job}</Link></span>
        <span role="cell" class="flow-log-text">{line.isErr ? "! " : ""}{line.text}</span>
      </div>
    );
  };
  return (
    <section class="flow-list" aria-label="Log">
      <div class="graph-tools">
        <input type="search" placeholder="Find a line or a job" aria-label="Find a line or a job" value={query.get("q") ?? ""} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
        <span class="faint" role="status">
          {isLoading ? "Loading…" : `${countText(shown.length, "line")}; of each job the last 64 KiB${graph.nodes.length > JOBS_MAX ? `, of the ${JOBS_MAX} jobs that began last` : ""}`}
        </span>
      </div>
      {!isLoading && shown.length === 0 ? <Empty>{lines.length === 0 ? "No job has written anything yet." : "No line fits."}</Empty> : null}
      <div class="flow-log" onScrollCapture={() => {
        const box = scroller.current;
        if (box !== null) isAtEnd.current = box.scrollTop + box.clientHeight >= box.scrollHeight - ROW_PX;
      }}>
        <VirtualRows count={shown.length} rowHeight={ROW_PX} label="Lines" row={row} scroller={scroller} />
      </div>
    </section>
  );
}
