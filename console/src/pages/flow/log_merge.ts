// The logs of several jobs as one: lines in the order in which they were written.
import type { LogMarks } from "../job/log_marks";
import type { LogText } from "../job/log_text";

export interface FlowLine {
  job: string;
  line: number; // in the log of the job
  timeMs: number;
  isErr: boolean;
  text: string;
}

export interface JobLog {
  job: string;
  log: LogText;
  marks: LogMarks;
  baseBytes: number; // offset of the first byte of the log
}

/** Lines of one log whose time is not known are as late as the line before them: the order within a log never changes. */
function linesOf({ job, log, marks, baseBytes }: JobLog): FlowLine[] {
  let timeMs = 0;
  return Array.from({ length: log.lineCount }, (_, line) => {
    const mark = marks.at(baseBytes + log.startOf(line));
    timeMs = Math.max(timeMs, mark?.time_ms ?? 0);
    return { job, line, timeMs, isErr: mark?.stream === "err", text: log.plain(line) };
  });
}

export function mergeLogs(logs: readonly JobLog[]): FlowLine[] {
  return logs.flatMap(linesOf).sort((a, b) => a.timeMs - b.timeMs);
}
