// Who did what and when: the journal's records, newest first; those of people unless all are asked for. Whether the
// journal is what was signed, and the same list as a file that proves it.
import { useState } from "preact/hooks";
import type { PageProps } from "../app";
import { get, post, save, type Query } from "../api/client";
import { usePages } from "../api/pages";
import { Link, setQuery } from "../router";
import { dateText, FlowLink, JobLink, Page, personText } from "../ui/parts";
import { useQueryField } from "../ui/show";
import { PagedTable, type Column } from "../ui/table";

interface AuditRecord {
  lsn?: number;
  time_ms?: number;
  principal?: string;
  kind?: string;
  verb?: string;
  target?: string;
  text?: string;
}
interface AuditPage {
  records?: AuditRecord[];
  cursor?: string;
}

interface Verified {
  ok?: boolean;
  text?: string;
  checkpoint?: { number?: number; key?: string };
}
interface Exported {
  lines?: string;
  cursor?: string;
}

/** All pages of an export as one file. */
async function exportTo(name: string, query: Query): Promise<void> {
  const parts: string[] = [];
  let cursor: string | undefined;
  do {
    const page: Exported = await get<Exported>("/audit/export", { ...query, cursor });
    parts.push(page.lines ?? "");
    cursor = page.cursor;
  } while (cursor !== undefined && cursor !== "");
  save(new Blob(parts, { type: "application/x-ndjson" }), name);
}

/** Reading a long journal takes a while: it is asked for, and not done whenever somebody looks at the page. */
function Proof({ query }: { query: Query }) {
  const [said, setSaid] = useState<{ text: string; bad: boolean }>();
  const [busy, setBusy] = useState(false);
  const doing = (what: () => Promise<void>) => () => {
    setBusy(true);
    what()
      .catch((error: unknown) => setSaid({ text: error instanceof Error ? error.message : String(error), bad: true }))
      .finally(() => setBusy(false));
  };
  const verify = doing(async () => {
    setSaid({ text: "Reading the journal…", bad: false });
    const got = await post<Verified>("/audit/verify", {});
    const key = got.checkpoint?.key === undefined ? "" : ` Signed by key ${got.checkpoint.key.slice(0, 12)}….`;
    setSaid({ text: got.ok === true ? `Records ${(got.text ?? "").replace(/^records /, "")}.${key}` : (got.text ?? ""), bad: got.ok !== true });
  });
  return (
    <div class="filters">
      <button type="button" disabled={busy} onClick={verify}>Check against signatures</button>
      <button type="button" disabled={busy} onClick={doing(() => exportTo("audit.jsonl", query))}>Export</button>
      <button type="button" disabled={busy} onClick={doing(() => exportTo("audit.ocsf.jsonl", { ...query, format: "ocsf" }))}>Export as OCSF</button>
      {said === undefined ? null : <span role="status" class={said.bad ? "bad" : undefined}>{said.text}</span>}
    </div>
  );
}

/** Flows are f3k9a, jobs f3k9a/train; schedules, keys and workers have names of their own. */
function Target({ record }: { record: AuditRecord }) {
  const target = record.target ?? "";
  if (/^f[0-9a-z]+\/[^/]+$/.test(target)) return <JobLink job={target} />;
  if (/^f[0-9][0-9a-z]+$/.test(target)) return <FlowLink flow={target} />;
  const kind = record.kind ?? "";
  const page = kind.startsWith("schedule") ? "schedules" : kind.startsWith("service") ? "services" : kind.startsWith("worker") || kind === "drain" ? "workers" : undefined;
  return page === undefined ? <span class="mono">{target}</span> : <Link class="mono" href={`/${page}?name=${encodeURIComponent(target)}`}>{target}</Link>;
}

const filterBy = (name: string, value: string | undefined, shown = value) =>
  value === undefined ? null : <button type="button" class="quiet link" title={`Only ${value}`} onClick={() => setQuery({ [name]: value }, false)}>{shown}</button>;

const columns: Column<AuditRecord>[] = [
  { head: "Time", class: "nowrap", cell: (record) => (record.time_ms ? dateText(record.time_ms) : "") },
  { head: "Who", class: "nowrap", cell: (record) => filterBy("principal", record.principal, personText(record.principal)) },
  { head: "Did", class: "nowrap", cell: (record) => filterBy("verb", record.verb) },
  { head: "Record kind", class: "nowrap", cell: (record) => filterBy("kind", record.kind) },
  { head: "To", cell: (record) => <Target record={record} /> },
  { head: "Details", cell: (record) => record.text },
  { head: "Record", number: true, cell: (record) => <code class="faint">{record.lsn}</code> },
];

const msOf = (local: string) => (local === "" ? undefined : new Date(local).getTime());

export default function AuditPage({ place }: PageProps) {
  const filter = (name: string) => place.query.get(name) ?? "";
  const flow = useQueryField("flow", filter("flow"));
  const principal = useQueryField("principal", filter("principal"));
  const verb = useQueryField("verb", filter("verb"));
  const object = useQueryField("object", filter("object"));
  const query: Query = {
    flow: filter("flow"), principal: filter("principal"), kind: filter("kind"), verb: filter("verb"), object: filter("object"),
    since_ms: msOf(filter("since")), until_ms: msOf(filter("until")), people: filter("all") === "" ? true : undefined,
  };
  const pages = usePages<AuditPage, AuditRecord>({
    path: "/audit",
    query: { ...query, most: 100 },
    rowsOf: (answer) => answer.records,
    cursorOf: (answer) => answer.cursor,
    wakes: (event) => (event.type === "flow" || event.type === "job") && filter("until") === "",
  });
  const filtered = ["flow", "principal", "kind", "verb", "object", "since", "until"].some((name) => filter(name) !== "");
  return (
    <Page title="Audit">
      <div class="filters">
        <label>Who<input type="search" {...principal} /></label>
        <label>Did<input type="search" {...verb} /></label>
        <label>Flow<input type="search" {...flow} /></label>
        <label>To<input type="search" {...object} /></label>
        <label>From<input type="datetime-local" value={filter("since")} onChange={(event) => setQuery({ since: event.currentTarget.value })} /></label>
        <label>Until<input type="datetime-local" value={filter("until")} onChange={(event) => setQuery({ until: event.currentTarget.value })} /></label>
        <label class="check">
          <input type="checkbox" checked={filter("all") !== ""} onChange={(event) => setQuery({ all: event.currentTarget.checked ? "1" : null })} />
          Also what the server and workers did
        </label>
        {filtered ? <button type="button" onClick={() => setQuery({ flow: null, principal: null, kind: null, verb: null, object: null, since: null, until: null })}>Clear</button> : null}
      </div>
      <Proof query={query} />
      <PagedTable
        label="Audit records" columns={columns} pages={pages} keyOf={(record) => `${record.lsn} ${record.kind} ${record.target}`}
        empty={filtered ? "Nothing fits the filter, as far back as the archive goes." : "Nothing has been changed yet."}
      />
    </Page>
  );
}
