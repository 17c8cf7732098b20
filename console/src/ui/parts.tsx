// Small parts that every page uses.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { ApiError } from "../api/client";
import { stream } from "../api/events";
import { useFlowName } from "../api/names";
import { Link, flowPath, jobPath } from "../router";
import { shownState, stateInfo } from "./states";

export function StateBadge({ state, cause }: { state: string | undefined; cause?: string | undefined }) {
  const info = stateInfo(state === undefined ? state : shownState(state, cause));
  const says = info.name === "upstream_failed" || cause === "none" ? "" : (cause ?? "");
  return (
    <span class={`badge state-${info.name}`} data-state={info.name}>
      <span aria-hidden="true">{info.sign}</span> {info.label}
      {says ? <span class="badge-cause"> · {says.replaceAll("_", " ")}</span> : null}
    </span>
  );
}

export const FlowLink = ({ flow, name }: { flow: string; name?: string | undefined }) => (
  <Link href={flowPath(flow)} class="mono">{name ? `${name} ` : ""}{flow}</Link>
);
export const JobLink = ({ job }: { job: string }) => <Link href={jobPath(job)} class="mono">{job}</Link>;

/** The name of its flow, where it has one. */
export function FlowName({ job }: { job: string }) {
  const name = useFlowName(job.split("/")[0] ?? "");
  return name === "" ? null : <span class="faint flow-of">{name}</span>;
}

// ---- time ----

const formatter = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function dateText(ms: number): string {
  return formatter.format(new Date(ms));
}

/** 950 ms, 3.2 s, 4 min 10 s, 2 h 5 min, 3 d 4 h */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string) =>
    small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return pair(Math.floor(seconds / 60), "min", seconds % 60, "s");
  if (seconds < 86_400) return pair(Math.floor(seconds / 3600), "h", Math.floor((seconds % 3600) / 60), "min");
  return pair(Math.floor(seconds / 86_400), "d", Math.floor((seconds % 86_400) / 3600), "h");
}

/** The server's clock, as far as the page knows it. */
export function serverNow(): number {
  return Date.now() + stream.clockSkewMs;
}

/** Renders again each second, for ages and countdowns. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** "3 min ago", "in 12 s"; the date in the viewer's zone when pointed at. */
export function Ago({ ms }: { ms: number | undefined }) {
  const now = useNow();
  if (!ms) return <span class="faint">never</span>;
  const text = ms <= now ? `${durationText(now - ms)} ago` : `in ${durationText(ms - now)}`;
  return <time dateTime={new Date(ms).toISOString()} title={dateText(ms)}>{text}</time>;
}

/** "1 line", "2 lines" */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** Who: the server knows people who come by the socket of its machine by the number of their account. */
export function personText(principal: string | undefined): string {
  const uid = /^uid:(\d+)$/.exec(principal ?? "")?.[1];
  if (uid === undefined) return principal ?? "";
  return uid === "0" ? "root" : `local user ${uid}`;
}

export const Person = ({ of }: { of: string | undefined }) => <span title={of}>{personText(of)}</span>;

export function bytesText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < units.length - 1; unit++) bytes /= 1024;
  return `${unit === 0 ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

// ---- what a page says instead of its content ----

export function Problem({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <strong>{error.code.replaceAll("_", " ")}:</strong> <span>{error.message}</span>
      {retry ? <button type="button" class="small" onClick={retry}>Try again</button> : null}
    </div>
  );
}

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>;
export const Loading = () => <p class="loading" role="status">Loading…</p>;

export function Page({ title, actions, children }: { title: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <>
      <header class="page-head">
        <h1>{title}</h1>
        <div class="actions">{actions}</div>
      </header>
      {children}
    </>
  );
}

// ---- dialogs ----

export function Dialog({ title, open, onClose, children }: { title: string; open: boolean; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null) return;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  }, [open]);
  return (
    <dialog ref={ref} onClose={onClose} aria-label={title}>
      <header class="dialog-head">
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>×</button>
      </header>
      {open ? children : null}
    </dialog>
  );
}
