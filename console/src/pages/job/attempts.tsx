// Every attempt of a job: where, when, how it ended, what it used. The one that is selected stands in the address.
import type { AttemptView } from "../../api/client";
import { Link } from "../../router";
import { Ago, bytesText, durationText } from "../../ui/parts";
import { Elapsed } from "../../ui/show";
import { Table, type Column } from "../../ui/table";

const signals: Record<number, string> = {
  1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL", 11: "SEGV", 13: "PIPE", 14: "ALRM", 15: "TERM",
  24: "XCPU", 25: "XFSZ", 31: "SYS",
};

export function exitText(of: { exit_code?: number; signal?: number }): string {
  if (of.signal) return `signal ${of.signal}${signals[of.signal] ? ` (${signals[of.signal]})` : ""}`;
  return `exit ${of.exit_code ?? 0}`;
}

export function outcomeOf(attempt: AttemptView): { sign: string; text: string; state: string } {
  if (!attempt.ended_ms) return attempt.started_ms
    ? { sign: "▶", text: "running", state: "running" }
    : { sign: "◔", text: "assigned", state: "dispatched" };
  const outcome = attempt.outcome ?? "ok";
  if (outcome === "ok" && attempt.exit_code) return { sign: "↻", text: `${exitText(attempt)}, not yet`, state: "waiting" }; // of a poll
  if (outcome === "ok") return { sign: "✓", text: exitText(attempt), state: "succeeded" };
  if (outcome === "exit") return { sign: "✗", text: exitText(attempt), state: "failed" };
  const rest = attempt.signal || attempt.exit_code ? `, ${exitText(attempt)}` : "";
  const state = outcome.includes("timeout") ? "timed_out" : outcome === "cancelled" ? "cancelled" : "failed";
  return { sign: state === "cancelled" ? "⊘" : "✗", text: outcome.replaceAll("_", " ") + rest, state };
}

/** What it ran into: a limit, a cut log, artifacts that were not kept. */
function notesOf(attempt: AttemptView): string[] {
  const notes: string[] = [];
  if (attempt.reason) notes.push(attempt.reason);
  if (attempt.hit) notes.push(`hit its limit of ${attempt.hit}${(attempt.hit_count ?? 0) > 1 ? ` ${attempt.hit_count} times` : ""}`);
  if (attempt.throttled_ms) notes.push(`held back ${durationText(attempt.throttled_ms)} by its CPU limit`);
  if (attempt.log_cut_bytes) notes.push(`${bytesText(attempt.log_cut_bytes)} of its log were not kept`);
  if (attempt.unkept) notes.push(`not kept: ${attempt.unkept}`);
  return notes;
}

function hrefOf(attempt: AttemptView): string {
  const query = new URLSearchParams(location.search);
  query.set("attempt", String(attempt.attempt));
  query.delete("whole");
  return `${location.pathname}?${query.toString()}`;
}

const columns: Column<AttemptView>[] = [
  { head: "Attempt", class: "nowrap", cell: (a) => <Link href={hrefOf(a)} class="mono">#{a.attempt}</Link> },
  {
    head: "Ended",
    class: "nowrap",
    cell: (a) => {
      const outcome = outcomeOf(a);
      return <span class={`state-${outcome.state}`}><span aria-hidden="true">{outcome.sign}</span> {outcome.text}</span>;
    },
  },
  { head: "Worker", cell: (a) => (a.worker ? <Link href={`/workers?name=${encodeURIComponent(a.worker)}`}>{a.worker}</Link> : "–") },
  { head: "Began", class: "nowrap", cell: (a) => <Ago ms={a.started_ms || a.assigned_ms} /> },
  { head: "Took", number: true, class: "nowrap", cell: (a) => <Elapsed from={a.started_ms || a.assigned_ms} to={a.ended_ms} /> },
  { head: "CPU", number: true, class: "nowrap", cell: (a) => (a.ended_ms ? durationText(a.cpu_ms ?? 0) : "–") },
  { head: "Peak memory", number: true, class: "nowrap", cell: (a) => (a.memory_bytes_max ? bytesText(a.memory_bytes_max) : "–") },
  { head: "Log", number: true, class: "nowrap", cell: (a) => (a.log_bytes ? bytesText(a.log_bytes) : "–") },
  { head: "Notes", cell: (a) => notesOf(a).map((note) => <div key={note}>{note}</div>) },
];

export function Attempts({ attempts, current }: { attempts: AttemptView[]; current: number | undefined }) {
  return (
    <Table label="Attempts" columns={columns} rows={[...attempts].reverse()} keyOf={(a) => String(a.attempt)}
      current={current === undefined ? undefined : String(current)} />
  );
}
