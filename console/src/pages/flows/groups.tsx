// Flows by name: how the last runs went, and whether they take longer than they used to.
import { Link } from "../../router";
import { Ago, durationText } from "../../ui/parts";
import { Table, type Column } from "../../ui/table";
import { RUNS_SHOWN, type Group } from "./group";
import { Runs } from "./runs";

const SLOWER = 1.5;

function Trend({ group }: { group: Group }) {
  if (group.tookMs === undefined) return null;
  const trend = group.trend ?? 1;
  const says = trend >= SLOWER ? `the last run took ${trend.toFixed(1)} times as long` : trend <= 1 / SLOWER ? "the last run was faster" : "";
  return (
    <>
      {durationText(group.tookMs)}
      {says === "" ? null : <span class={trend > 1 ? "state-timed_out" : "state-succeeded"} title={says}> {trend > 1 ? "▲" : "▼"} {trend.toFixed(1)}×</span>}
    </>
  );
}

const columns: Column<Group>[] = [
  { head: "Name", cell: (group) => (group.name === "" ? <span class="faint">without a name</span> : <Link href={`/flows?q=${encodeURIComponent(group.name)}`}>{group.name}</Link>) },
  { head: `Last ${RUNS_SHOWN} runs`, cell: (group) => <Runs runs={group.runs} /> },
  { head: "Runs", number: true, cell: (group) => group.runs.length.toLocaleString() },
  { head: "Failed", number: true, cell: (group) => (group.bad > 0 ? <span class="state-failed">{group.bad.toLocaleString()}</span> : "0") },
  { head: "Running", number: true, cell: (group) => (group.running > 0 ? group.running.toLocaleString() : "0") },
  { head: "Usual time", class: "nowrap", cell: (group) => <Trend group={group} /> },
  { head: "Last", class: "nowrap", cell: (group) => <Ago ms={group.runs[0]?.created_ms} /> },
];

export function Groups({ groups }: { groups: Group[] }) {
  return <Table label="Flows by name" columns={columns} rows={groups} keyOf={(group) => group.name} />;
}
