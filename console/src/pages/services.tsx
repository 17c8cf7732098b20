// The services: what they are told to be, what they are, where they listen, which versions they had.
import type { PageProps } from "../app";
import { pathOf, put, type Schemas, type ServiceView } from "../api/client";
import { textOf, usePages } from "../api/pages";
import { may } from "../api/session";
import { Link, jobPath, setQuery } from "../router";
import { ask } from "../ui/confirm";
import { Ago, JobLink, Page } from "../ui/parts";
import { Countdown, useQueryField } from "../ui/show";
import { PagedTable, type Column } from "../ui/table";
import { act } from "../ui/toast";
import { Versions } from "./services/versions";

/** A service, or a row for all replicas of one, above theirs. */
export type ServiceRow = ServiceView & { replicas?: ServiceView[] };

/** Replicas stand together in the order of their numbers, behind a row of their own, where the first of them was. */
export function grouped(services: ServiceView[]): ServiceRow[] {
  const sets = new Map<string, ServiceView[]>();
  for (const service of services) {
    if (!service.replica_of) continue;
    const members = sets.get(service.replica_of);
    if (members === undefined) sets.set(service.replica_of, [service]);
    else members.push(service);
  }
  const rows: ServiceRow[] = [];
  for (const service of services) {
    const members = service.replica_of ? sets.get(service.replica_of) : [];
    if (members === undefined) continue; // it stands with the others
    if (!service.replica_of) {
      rows.push(service);
      continue;
    }
    sets.delete(service.replica_of);
    members.sort((a, b) => (a.replica ?? 0) - (b.replica ?? 0));
    rows.push({ name: service.replica_of, replicas: members }, ...members);
  }
  return rows;
}

function setState(replicas: ServiceView[]): { sign: string; text: string; state: string } {
  const told = replicas.filter((each) => each.state === "running");
  const healthy = told.filter((each) => each.healthy || each.previous_healthy).length;
  if (told.length === 0) return { sign: "⊘", text: "stopped", state: "cancelled" };
  const text = `${healthy} of ${replicas.length} healthy`;
  if (healthy === replicas.length) return { sign: "✓", text, state: "succeeded" };
  return healthy === 0 ? { sign: "✗", text, state: "failed" } : { sign: "◔", text, state: "dispatched" };
}

export function serviceState(service: ServiceRow): { sign: string; text: string; state: string } {
  if (service.replicas) return setState(service.replicas);
  if (service.state !== "running") return { sign: "⊘", text: service.state ?? "unknown", state: "cancelled" };
  if (service.healthy) return { sign: "✓", text: "healthy", state: "succeeded" };
  if (service.previous_healthy) return { sign: "✓", text: "updating", state: "succeeded" };
  if (service.deploying) return { sign: "◔", text: "deploying", state: "dispatched" };
  return service.due_ms ? { sign: "·", text: "waiting", state: "waiting" } : { sign: "✗", text: "unhealthy", state: "failed" };
}

const columnsOf = (open: string | null): Column<ServiceRow>[] => [
  {
    head: "Service",
    class: "nowrap",
    cell: (service) =>
      service.replicas ? <strong>{service.name}</strong> : (
        <button type="button" class={service.replica_of ? "quiet link replica" : "quiet link"} aria-expanded={open === service.name} onClick={() => setQuery({ open: open === service.name ? null : service.name ?? null })}>
          <span aria-hidden="true">{open === service.name ? "▾" : "▸"}</span> <strong>{service.name}</strong>
        </button>
      ),
  },
  {
    head: "State",
    cell: (service) => {
      const state = serviceState(service);
      return (
        <>
          <span class={`state-${state.state}`} data-service-state={state.text}><span aria-hidden="true">{state.sign}</span> {state.text}</span>
          {!service.healthy && service.text ? <div class="faint">{service.text}</div> : null}
          {service.due_ms ? <div class="faint">starts <Countdown ms={service.due_ms} /></div> : null}
        </>
      );
    },
  },
  { head: "Since", class: "nowrap", cell: (service) => (service.replicas ? "" : <Ago ms={service.since_ms} />) },
  { head: "Port", number: true, cell: (service) => (service.previous_healthy ? service.previous_port : service.port) },
  { head: "Worker", cell: (service) => (service.worker ? <Link href={`/workers?name=${encodeURIComponent(service.worker)}`}>{service.worker}</Link> : "") },
  { head: "Restarts", number: true, cell: (service) => (service.replicas ? "" : service.restarts ?? 0) },
  {
    head: "Version",
    class: "nowrap",
    cell: (service) => <>{service.version}{service.previous_version ? <div class="faint">before: {service.previous_version}</div> : null}</>,
  },
  { head: "Job", cell: (service) => (service.job ? <JobLink job={service.job} /> : "") },
];

/** What is said to all replicas of a service, and how many there are to be. */
function SetActions({ name, replicas, reload }: { name: string; replicas: ServiceView[]; reload: () => void }) {
  const tell = async (body: { desired?: string; replicas?: number }, done: string) => {
    await act(() => put(`/services/${pathOf(name)}`, body), done);
    reload();
  };
  const scale = async () => {
    const text = `It has ${replicas.length} now. New replicas are copies of one that runs; the highest are removed first.`;
    const number = await ask({ title: `Scale ${name}`, text, action: "Scale", note: "Replicas" });
    if (number === null || number === "") return;
    await tell({ replicas: Number(number) }, `${name} gets ${number} replicas`);
  };
  const stop = async () => {
    const sure = await ask({ title: `Stop ${name}?`, text: "The processes of all its replicas are ended; they stay deployed and can be started again.", action: "Stop", danger: true });
    if (sure !== null) await tell({ desired: "stopped" }, `${name} stops`);
  };
  const remove = async () => {
    const sure = await ask({ title: `Remove ${name}?`, text: "The processes of all its replicas are ended and the service is forgotten.", action: "Remove", danger: true });
    if (sure !== null) await tell({ desired: "removed" }, `${name} is removed`);
  };
  if (!may("operator", "submitter")) return null;
  const running = replicas.some((each) => each.state === "running");
  return (
    <>
      {running ? (
        <>
          <button type="button" onClick={() => void scale()}>Scale…</button>
          <button type="button" onClick={() => void stop()}>Stop</button>
        </>
      ) : (
        <button type="button" onClick={() => void tell({ desired: "running" }, `${name} starts`)}>Start</button>
      )}
      <button type="button" class="danger" onClick={() => void remove()}>Remove</button>
    </>
  );
}

function ServiceActions({ service, reload }: { service: ServiceView; reload: () => void }) {
  const name = service.name ?? "";
  const tell = async (desired: string, done: string) => {
    await act(() => put(`/services/${pathOf(name)}`, { desired }), done);
    reload();
  };
  const stop = async () => {
    const sure = await ask({ title: `Stop ${name}?`, text: "Its process is ended; it stays deployed and can be started again.", action: "Stop", danger: true });
    if (sure !== null) await tell("stopped", `${name} stops`);
  };
  const remove = async () => {
    const sure = await ask({ title: `Remove ${name}?`, text: "Its process is ended and the service is forgotten.", action: "Remove", danger: true });
    if (sure !== null) await tell("removed", `${name} is removed`);
  };
  const running = service.state === "running";
  return (
    <>
      {service.job ? <Link class="button" href={`${jobPath(service.job)}?view=log`}>Log</Link> : null}
      {!may("operator", "submitter") ? null : running ? (
        <>
          <button type="button" onClick={() => void tell("restart", `${name} starts anew`)}>Restart</button>
          <button type="button" onClick={() => void stop()}>Stop</button>
          <button type="button" class="danger" onClick={() => void remove()}>Remove</button>
        </>
      ) : (
        <>
          <button type="button" onClick={() => void tell("running", `${name} starts`)}>Start</button>
          <button type="button" class="danger" onClick={() => void remove()}>Remove</button>
        </>
      )}
    </>
  );
}

export default function ServicesPage({ place }: PageProps) {
  const name = place.query.get("name") ?? "";
  const open = place.query.get("open");
  const field = useQueryField("name", name);
  const pages = usePages<Schemas["service_list"], ServiceView>({
    path: "/services",
    query: { most: 200 },
    rowsOf: (answer) => answer.services,
    cursorOf: (answer) => textOf(answer.cursor),
    // a version that was told to stop has stopped when its job is cancelled
    wakes: (event) => event.type === "service" || event.type === "worker" || (event.type === "job" && event.to === "cancelled"),
  });
  const rows = pages.rows?.filter((service) => service.name?.includes(name));
  return (
    <Page title="Services" actions={may("operator", "submitter") ? <Link href="/new?template=service" class="button">Deploy…</Link> : null}>
      <div class="filters"><label class="wide">Name<input type="search" {...field} /></label></div>
      <PagedTable
        label="Services" columns={columnsOf(open)} pages={{ ...pages, rows: rows && grouped(rows) }}
        keyOf={(service) => (service.replicas ? `set:${service.name}` : service.name ?? "")}
        actions={(service) =>
          service.replicas
            ? <SetActions name={service.name ?? ""} replicas={service.replicas} reload={pages.reload} />
            : <ServiceActions service={service} reload={pages.reload} />}
        below={(service) => (open === service.name && !service.replicas ? <Versions name={service.name ?? ""} reload={pages.reload} /> : null)}
        empty={name === "" ? <>No service is deployed. <code>reeve deploy FLOW.yaml</code> deploys those of a flow file.</> : "No service has this name."}
      />
    </Page>
  );
}
