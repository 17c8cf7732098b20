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

export function serviceState(service: ServiceView): { sign: string; text: string; state: string } {
  if (service.state !== "running") return { sign: "⊘", text: service.state ?? "unknown", state: "cancelled" };
  if (service.healthy) return { sign: "✓", text: "healthy", state: "succeeded" };
  if (service.deploying) return { sign: "◔", text: "deploying", state: "dispatched" };
  return service.due_ms ? { sign: "·", text: "waiting", state: "waiting" } : { sign: "✗", text: "unhealthy", state: "failed" };
}

const columnsOf = (open: string | null): Column<ServiceView>[] => [
  {
    head: "Service",
    class: "nowrap",
    cell: (service) => (
      <button type="button" class="quiet link" aria-expanded={open === service.name} onClick={() => setQuery({ open: open === service.name ? null : service.name ?? null })}>
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
  { head: "Since", class: "nowrap", cell: (service) => <Ago ms={service.since_ms} /> },
  { head: "Port", number: true, cell: (service) => service.port },
  { head: "Worker", cell: (service) => (service.worker ? <Link href={`/workers?name=${encodeURIComponent(service.worker)}`}>{service.worker}</Link> : "") },
  { head: "Restarts", number: true, cell: (service) => service.restarts ?? 0 },
  {
    head: "Version",
    class: "nowrap",
    cell: (service) => <>{service.version}{service.previous_version ? <div class="faint">before: {service.previous_version}</div> : null}</>,
  },
  { head: "Job", cell: (service) => (service.job ? <JobLink job={service.job} /> : "") },
];

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
    wakes: (event) => event.type === "service" || event.type === "worker",
  });
  const rows = pages.rows?.filter((service) => service.name?.includes(name));
  return (
    <Page title="Services" actions={may("operator", "submitter") ? <Link href="/new?template=service" class="button">Deploy…</Link> : null}>
      <div class="filters"><label class="wide">Name<input type="search" {...field} /></label></div>
      <PagedTable
        label="Services" columns={columnsOf(open)} pages={{ ...pages, rows }} keyOf={(service) => service.name ?? ""}
        actions={(service) => <ServiceActions service={service} reload={pages.reload} />}
        below={(service) => (open === service.name ? <Versions name={service.name ?? ""} reload={pages.reload} /> : null)}
        empty={name === "" ? <>No service is deployed. <code>reeve deploy FLOW.yaml</code> deploys those of a flow file.</> : "No service has this name."}
      />
    </Page>
  );
}
