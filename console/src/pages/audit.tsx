// Who did what and when: the journal's records, newest first; those of people unless all are asked for.
import type { PageProps } from "../app";
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
  target?: string;
  text?: string;
}
interface AuditPage {
  records?: AuditRecord[];
  cursor?: string;
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
  { head: "Did", class: "nowrap", cell: (record) => filterBy("kind", record.kind) },
  { head: "To", cell: (record) => <Target record={record} /> },
  { head: "Details", cell: (record) => record.text },
  { head: "Record", number: true, cell: (record) => <code class="faint">{record.lsn}</code> },
];

const msOf = (local: string) => (local === "" ? undefined : new Date(local).getTime());

export default function AuditPage({ place }: PageProps) {
  const filter = (name: string) => place.query.get(name) ?? "";
  const flow = useQueryField("flow", filter("flow"));
  const principal = useQueryField("principal", filter("principal"));
  const kind = useQueryField("kind", filter("kind"));
  const pages = usePages<AuditPage, AuditRecord>({
    path: "/audit",
    query: {
      flow: filter("flow"), principal: filter("principal"), kind: filter("kind"),
      since_ms: msOf(filter("since")), until_ms: msOf(filter("until")), people: filter("all") === "" ? true : undefined, most: 100,
    },
    rowsOf: (answer) => answer.records,
    cursorOf: (answer) => answer.cursor,
    wakes: (event) => (event.type === "flow" || event.type === "job") && filter("until") === "",
  });
  const filtered = ["flow", "principal", "kind", "since", "until"].some((name) => filter(name) !== "");
  return (
    <Page title="Audit">
      <div class="filters">
        <label>Who<input type="search" {...principal} /></label>
        <label>Did<input type="search" {...kind} /></label>
        <label>Flow<input type="search" {...flow} /></label>
        <label>From<input type="datetime-local" value={filter("since")} onChange={(event) => setQuery({ since: event.currentTarget.value })} /></label>
        <label>Until<input type="datetime-local" value={filter("until")} onChange={(event) => setQuery({ until: event.currentTarget.value })} /></label>
        <label class="check">
          <input type="checkbox" checked={filter("all") !== ""} onChange={(event) => setQuery({ all: event.currentTarget.checked ? "1" : null })} />
          Also what the server and workers did
        </label>
        {filtered ? <button type="button" onClick={() => setQuery({ flow: null, principal: null, kind: null, since: null, until: null })}>Clear</button> : null}
      </div>
      <PagedTable
        label="Audit records" columns={columns} pages={pages} keyOf={(record) => `${record.lsn} ${record.kind} ${record.target}`}
        empty={filtered ? "Nothing fits the filter, as far back as the archive goes." : "Nothing has been changed yet."}
      />
    </Page>
  );
}
