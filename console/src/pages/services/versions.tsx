// What a service went through: its versions, and how healthy each was over time; back to one of them.
import { pathOf, post, type ServiceView, type Schemas } from "../../api/client";
import { useGet } from "../../api/hooks";
import { may } from "../../api/session";
import { ask } from "../../ui/confirm";
import { Ago, dateText, durationText, FlowLink, Person, Problem, useNow } from "../../ui/parts";
import { Table, type Column } from "../../ui/table";
import { act } from "../../ui/toast";
import { healthyShare, stretchesOf, type Health, type LifeEvent } from "./health";
import "./versions.css";

type Version = Schemas["service_version"];

const EVENTS_MAX = 2000;
const NOW_EVERY_MS = 5000;
const healthWords: Record<Health, string> = { healthy: "healthy", unhealthy: "starting or not healthy", down: "down" };
const versionStates: Record<string, { sign: string; state: string }> = {
  current: { sign: "✓", state: "succeeded" },
  deploying: { sign: "◔", state: "dispatched" },
  failed: { sign: "✗", state: "failed" },
  retired: { sign: "⊘", state: "cancelled" },
};

function VersionState({ of }: { of: Version }) {
  const shown = versionStates[of.state ?? ""] ?? { sign: "•", state: "unknown" };
  return <span class={`state-${shown.state}`} data-version-state={of.state}><span aria-hidden="true">{shown.sign}</span> {of.state}</span>;
}

/** The last versions side by side, oldest first; each as high as it was healthy for long. */
export function VersionStrip({ versions, now }: { versions: readonly Version[]; now: number }) {
  const healthyMs = (one: Version) => (one.healthy_ms ? (one.ended_ms || now) - one.healthy_ms : 0);
  const longest = Math.max(1, ...versions.map(healthyMs));
  return (
    <span class="version-strip">
      {[...versions].reverse().map((one) => {
        const says = `version ${one.version}, ${one.state}${one.healthy_ms ? `, healthy for ${durationText(healthyMs(one))}` : ", never healthy"}`;
        const state = versionStates[one.state ?? ""]?.state ?? "unknown";
        return <i key={one.version} role="img" aria-label={says} title={says} class={`state-${state}`} style={{ height: `${Math.round(6 + (healthyMs(one) / longest) * 20)}px` }} />;
      })}
    </span>
  );
}

/** The life of the version that is to run. */
function HealthBar({ job, version }: { job: string; version: number | undefined }) {
  const flow = job.split("/")[0] ?? "";
  const got = useGet<{ events?: LifeEvent[] }>(`/flows/${pathOf(flow)}/events`, { most: EVENTS_MAX }, (event) => "target" in event && event.target?.startsWith(`${flow}/`) === true);
  const now = useNow(NOW_EVERY_MS);
  const stretches = stretchesOf(got.data?.events ?? [], now);
  const first = stretches[0];
  if (got.error) return <Problem error={got.error} retry={got.reload} />;
  if (first === undefined) return null;
  const length = now - first.from;
  return (
    <figure class="health">
      <div class="health-bar" role="img" aria-label={`Health of version ${version}: healthy ${(healthyShare(stretches) * 100).toFixed(1)} % of the time`}>
        {stretches.map((stretch) => (
          <i
            key={stretch.from} class={stretch.health} style={{ width: `${((stretch.to - stretch.from) / length) * 100}%` }} data-health={stretch.health}
            title={`${healthWords[stretch.health]}: ${dateText(stretch.from)}, for ${durationText(stretch.to - stretch.from)}`}
          />
        ))}
      </div>
      <figcaption class="hint">
        Version {version}, since {dateText(first.from)}: healthy {(healthyShare(stretches) * 100).toFixed(1)} % of the time.
        {" "}<span class="key healthy" /> healthy <span class="key unhealthy" /> starting or not healthy <span class="key down" /> down
      </figcaption>
    </figure>
  );
}

const columns: Column<Version>[] = [
  { head: "Version", number: true, cell: (one) => <strong>{one.version}</strong> },
  { head: "State", class: "nowrap", cell: (one) => <VersionState of={one} /> },
  { head: "Deployed", class: "nowrap", cell: (one) => <Ago ms={one.begun_ms} /> },
  { head: "Healthy for", class: "nowrap", cell: (one) => (one.healthy_ms ? <HealthyFor of={one} /> : <span class="faint">never</span>) },
  { head: "Restarts", number: true, cell: (one) => one.restarts ?? 0 },
  { head: "By", cell: (one) => <Person of={one.by} /> },
  { head: "Flow", cell: (one) => (one.flow ? <FlowLink flow={one.flow} /> : "") },
];

function HealthyFor({ of }: { of: Version }) {
  const now = useNow();
  return <>{durationText((of.ended_ms || now) - (of.healthy_ms ?? now))}</>;
}

export function Versions({ name, reload }: { name: string; reload: () => void }) {
  const got = useGet<ServiceView>(`/services/${pathOf(name)}`, {}, (event) => event.type === "service" || event.type === "flow" || event.type === "job");
  const now = useNow(NOW_EVERY_MS);
  const service = got.data;
  const versions = service?.versions ?? [];
  const rollBack = async (version: number) => {
    const sure = await ask({
      title: `Roll ${name} back to version ${version}?`,
      text: `What version ${version} ran becomes a new version: version ${service?.version} stops, then it starts. If it is not healthy in time, version ${service?.version} runs again.`,
      action: "Roll back",
    });
    if (sure === null) return;
    await act(() => post(`/services/${pathOf(name)}/rollback`, { version }), `${name} goes back to version ${version}`);
    got.reload();
    reload();
  };
  if (got.error) return <Problem error={got.error} retry={got.reload} />;
  if (service === undefined) return null;
  return (
    <section aria-label={`Versions of ${name}`}>
      {service.job ? <HealthBar job={service.job} version={service.version} /> : null}
      {versions.length === 0 ? <p class="faint">No version is remembered: they were deployed by an earlier version of Reeve.</p> : (
        <>
          <p class="row"><span class="hint">Last versions, as high as they were healthy for long</span> <VersionStrip versions={versions} now={now} /></p>
          <Table
            label={`Versions of ${name}`} columns={columns} rows={versions} keyOf={(one) => String(one.version)}
            actions={(one) => (one.kept && one.version !== service.version && !service.deploying && may("operator", "submitter")
              ? <button type="button" onClick={() => void rollBack(one.version ?? 0)}>Roll back…</button> : null)}
          />
        </>
      )}
    </section>
  );
}
