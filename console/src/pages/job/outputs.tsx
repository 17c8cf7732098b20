// What a job gave: its result and the files it declared.
import { urlOf, type JobView, type Schemas } from "../../api/client";
import { bytesText, Empty } from "../../ui/parts";
import { Copied, Download, prettyJson } from "../../ui/show";
import { Table, type Column } from "../../ui/table";

type Kept = Schemas["kept"];

const columns: Column<Kept>[] = [
  { head: "Artifact", cell: (kept) => <Download href={urlOf(`/blobs/${kept.hash}`)} name={kept.name?.split("/").at(-1) ?? "artifact"}>{kept.name}</Download> },
  { head: "Size", number: true, cell: (kept) => bytesText(kept.bytes ?? 0) },
  { head: "Hash", cell: (kept) => <Copied text={kept.hash ?? ""} shown={`${kept.hash?.slice(0, 16)}…`} /> },
];

export function Outputs({ job, artifacts }: { job: JobView; artifacts: Kept[] }) {
  const nothing = job.result === undefined && !job.result_hash && artifacts.length === 0;
  if (nothing) return <Empty>It gave no result. A job writes one to $REEVE_OUTPUT, and names its artifacts in the flow file.</Empty>;
  return (
    <>
      {job.result !== undefined ? <pre class="result">{prettyJson(job.result)}</pre> : null}
      {job.result_hash && job.result === undefined ? (
        <p>The result is large: <Download href={urlOf(`/blobs/${job.result_hash}`)} name="result.json">download it</Download></p>
      ) : null}
      {artifacts.length > 0 ? <Table label="Artifacts" columns={columns} rows={artifacts} keyOf={(kept) => kept.name ?? ""} /> : null}
    </>
  );
}
