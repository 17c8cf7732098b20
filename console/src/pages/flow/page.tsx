// One flow: what it is, how far it is, what can be done with it, and its views.
import { useEffect, useMemo, useState } from "preact/hooks";

import type { PageProps } from "../../app";
import { post, type FlowView, type Schemas } from "../../api/client";
import { comparePositions } from "../../api/events";
import { useGet } from "../../api/hooks";
import { may } from "../../api/session";
import { Link, flowPath, navigate, setQuery } from "../../router";
import { Ago, Dialog, durationText, Loading, Page, Person, Problem, StateBadge, useNow } from "../../ui/parts";
import { act } from "../../ui/toast";
import { Definition, givenOf, RunAgain } from "./definition";
import { groupFlows, RUNS_SHOWN } from "../flows/group";
import { Runs } from "../flows/runs";
import { GraphView } from "./graph";
import { useHistory } from "./history";
import { Legend, statesChosen } from "./legend";
import { ListView } from "./list";
import { Lights } from "./lights";
import { FlowLog } from "./log";
import { countStates, type JobNow } from "./model";
import { Past } from "./past";
import { Progress } from "./progress";
import { TimeSlider } from "./slider";
import { useFlow, type FlowStore } from "./store";
import { TimelineView } from "./timeline";
import "./flow.css";

const views = [
  { key: "graph", label: "Graph" },
  { key: "timeline", label: "Timeline" },
  { key: "list", label: "List" },
  { key: "log", label: "Log" },
  { key: "definition", label: "Definition" },
] as const;
const ADDRESS_MS = 300; // the address follows the slider when it rests

interface Action {
  name: string;
  path: string;
  question: string;
  done: string;
  danger?: boolean;
}

function actionsOf(view: FlowView): Action[] {
  const running = view.state === "running";
  const all: (Action | false)[] = [
    running &&
      !view.paused && {
        name: "Pause",
        path: "pause",
        question: "It starts nothing new until it is resumed. What runs goes on.",
        done: "The flow is paused.",
      },
    running &&
      view.paused === true && { name: "Resume", path: "resume", question: "It starts jobs again.", done: "The flow goes on." },
    !running &&
      view.state !== "succeeded" && {
        name: "Rerun",
        path: "rerun",
        question: "Jobs that failed, were cancelled or were skipped run again; what succeeded stays.",
        done: "The flow runs again.",
      },
    running && {
      name: "Cancel",
      path: "cancel",
      question: "Jobs that wait are cancelled, those that run are stopped. This cannot be undone.",
      done: "The flow is being cancelled.",
      danger: true,
    },
  ];
  return all.filter((action) => action !== false);
}

function Actions({ view, onDone }: { view: FlowView; onDone: () => void }) {
  const [asked, setAsked] = useState<Action>();
  const [busy, setBusy] = useState(false);
  if (!may("operator", "submitter") || view.archived) return null;
  const run = async (action: Action) => {
    setBusy(true);
    await act(() => post(`/flows/${encodeURIComponent(view.flow ?? "")}/${action.path}`, {}), action.done);
    setBusy(false);
    setAsked(undefined);
    onDone();
  };
  return (
    <>
      {actionsOf(view).map((action) => (
        <button key={action.name} type="button" class={action.danger ? "danger" : undefined} onClick={() => setAsked(action)}>
          {action.name}
        </button>
      ))}
      <Dialog
        title={`${asked?.name ?? ""} ${view.name ?? view.flow ?? ""}?`}
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
      >
        <p>{asked?.question}</p>
        <div class="actions">
          <button
            type="button"
            class={asked?.danger ? "danger" : "primary"}
            disabled={busy}
            onClick={() => asked && void run(asked)}
          >
            {asked?.name}
          </button>
          <button type="button" onClick={() => setAsked(undefined)}>
            Leave it
          </button>
        </div>
      </Dialog>
    </>
  );
}

/** The flows of the same name: is this one slower than it used to be? */
function SameName({ name }: { name: string }) {
  const got = useGet<Schemas["listed"]>("/flows", { name, most: RUNS_SHOWN }, (event) => event.type === "flow");
  const runs = (got.data?.flows ?? []).filter((run) => run.name === name);
  const usual = groupFlows(runs)[0]?.tookMs;
  if (runs.length < 2) return null;
  return (
    <div>
      <dt>Last runs</dt>
      <dd>
        <Runs runs={runs} /> {usual === undefined ? null : <span class="faint">usually {durationText(usual)}</span>}
      </dd>
    </div>
  );
}

function Facts({ view }: { view: FlowView }) {
  const now = useNow();
  const took = (view.finished_ms || now) - (view.created_ms ?? now);
  return (
    <dl class="flow-facts">
      <div>
        <dt>Submitted</dt>
        <dd>
          <Ago ms={view.created_ms} /> by <Person of={view.principal ?? "?"} />
        </dd>
      </div>
      <div>
        <dt>{view.finished_ms ? "Took" : "For"}</dt>
        <dd>{durationText(took)}</dd>
      </div>
      <div>
        <dt>Jobs</dt>
        <dd>{(view.job_count ?? 0).toLocaleString()}</dd>
      </div>
      {view.name ? <SameName name={view.name} /> : null}
      {view.tenant && view.tenant !== "default" ? (
        <div>
          <dt>Tenant</dt>
          <dd>{view.tenant}</dd>
        </div>
      ) : null}
      {view.stage && view.stage !== "main" ? (
        <div>
          <dt>Stage</dt>
          <dd>{view.called && view.stage === "over" ? `${view.stage} (${view.called} ran)` : view.stage}</dd>
        </div>
      ) : null}
      {view.timeout_at_ms ? (
        <div>
          <dt>{view.timed_out ? "Timed out" : "Timeout"}</dt>
          <dd>
            <Ago ms={view.timeout_at_ms} />
          </dd>
        </div>
      ) : null}
      {view.deadline_ms ? (
        <div>
          <dt>{view.late ? "Late since" : "Deadline"}</dt>
          <dd>
            <Ago ms={view.deadline_ms} />
          </dd>
        </div>
      ) : null}
      {view.unwinding ? (
        <div>
          <dt>Saga</dt>
          <dd>{view.unwinding}</dd>
        </div>
      ) : null}
      {view.source_name ? (
        <div>
          <dt>File</dt>
          <dd class="mono">
            {view.source_name}
            {view.source === undefined ? <span class="faint"> (not kept)</span> : null}
          </dd>
        </div>
      ) : null}
      {Object.keys(givenOf(view)).length > 0 ? (
        <div>
          <dt>Parameters</dt>
          <dd class="mono">
            {Object.entries(givenOf(view))
              .map(([key, value]) => `${key}=${String(value)}`)
              .join(" ")}
          </dd>
        </div>
      ) : null}
      {view.again_of ? (
        <div>
          <dt>Again of</dt>
          <dd>
            <Link href={flowPath(view.again_of)}>{view.again_of}</Link>
          </dd>
        </div>
      ) : null}
      {Object.entries(view.labels ?? {}).map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd>
            <Link href={`/flows?label=${encodeURIComponent(`${key}=${value}`)}`}>{value}</Link>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Where the slider stands, in the address as the position of the last event that is taken in. */
function useMoment(store: FlowStore, query: URLSearchParams) {
  const kept = query.get("at");
  const [open, setOpen] = useState(kept !== null);
  const history = useHistory(store, open);
  const { graph, view } = store;
  const past = useMemo(
    () => (graph === undefined || !open ? undefined : new Past(graph, history.events, view?.created_ms ?? 0)),
    [graph, history.events, open],
  );
  const [count, setCount] = useState<number>();
  const [restored, setRestored] = useState(kept === null);

  useEffect(() => {
    if (restored || past === undefined || kept === null) return;
    const last = history.events.at(-1);
    if (last === undefined || (comparePositions(last.position, kept) < 0 && !history.complete)) return;
    let found = 0;
    while (found < past.length && comparePositions(past.event(found)!.position, kept) <= 0) found++;
    setCount(found);
    setRestored(true);
  }, [past, restored]);

  useEffect(() => {
    if (!restored) return;
    const position = count === undefined ? null : count === 0 ? "0.0" : (past?.event(count - 1)?.position ?? null);
    const timer = setTimeout(() => {
      if (new URLSearchParams(location.search).get("at") !== position) setQuery({ at: position });
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [count, restored]);

  const close = () => {
    setCount(undefined);
    setOpen(false);
  };
  const moment = past !== undefined && count !== undefined ? past.after(count) : undefined;
  const momentMs = count === undefined ? undefined : (past?.event(count - 1)?.time_ms ?? view?.created_ms);
  return { open, setOpen, close, history, past, count, setCount, moment, momentMs };
}

/** The foreach jobs whose items are shown one by one. */
const unfoldedOf = (query: URLSearchParams) => (query.get("unfold") ?? "").split(",").filter((name) => name !== "");

function Flow({ store, place }: { store: FlowStore } & PageProps) {
  const { view, graph } = store;
  const { query } = place;
  const clock = useNow();
  const time = useMoment(store, query);
  const [pastLights] = useState(() => new Lights());
  const now: readonly JobNow[] = time.moment?.now ?? store.now;
  useEffect(() => {
    if (time.moment !== undefined && time.moment.changed >= 0) pastLights.flash(time.moment.changed, performance.now());
  }, [time.moment]);
  const unfolded = query.get("unfold") ?? "";
  useEffect(() => {
    if (graph === undefined) return;
    const names = unfoldedOf(query);
    for (const name of [...store.unfolded.keys()]) if (!names.includes(name)) store.fold(name);
    for (const name of names) if (!store.unfolded.has(name) && graph.byName.has(name)) void act(() => store.unfold(name));
  }, [unfolded, graph === undefined]);
  if (store.error !== undefined && view === undefined)
    return (
      <Page title="Flow">
        <Problem error={store.error} retry={() => store.reload()} />
      </Page>
    );
  if (view === undefined) return <Loading />;

  const hasFile = view.source !== undefined && !view.archived;
  const shown = views.find((each) => each.key === query.get("view"))?.key ?? "graph";
  const state = time.moment?.flowState ?? view.state;
  const counts = countStates(now);
  const nowMs = view.finished_ms || clock;
  const viewsProps = graph === undefined ? undefined : { graph, now, attempts: store.attempts, query };
  const toggle = (name: string) => {
    const names = unfoldedOf(query);
    setQuery({ unfold: (names.includes(name) ? names.filter((each) => each !== name) : [...names, name]).join(",") });
  };
  return (
    <div class="flow">
      <header class="flow-head">
        <div class="flow-title">
          <Link href="/flows" class="faint">
            Flows
          </Link>
          <h1>
            {view.name ?? view.flow} {view.name ? <span class="mono faint">{view.flow}</span> : null}
          </h1>
          <StateBadge state={state} />
          {view.paused ? <span class="badge state-held">⏸ paused</span> : null}
          {view.cancelling ? <span class="badge state-cancelled">⊘ being cancelled</span> : null}
          {view.late ? <span class="badge state-held">late</span> : null}
          {view.timed_out ? <span class="badge state-timed_out">timed out</span> : null}
          {view.archived ? <span class="badge faint">from the history</span> : null}
        </div>
        <div class="actions">
          {time.open ? null : (
            <button type="button" onClick={() => time.setOpen(true)}>
              Time slider
            </button>
          )}
          {may("submitter", "operator") && !view.archived ? <RunAgain view={view} /> : null}
          {may("submitter", "operator") ? (
            <Link href={`/new?from=${encodeURIComponent(view.flow ?? "")}`} class="button">
              Use as template
            </Link>
          ) : null}
          <Actions view={view} onDone={() => store.reload()} />
        </div>
      </header>
      <Progress counts={counts} />
      <Facts view={view} />
      {time.count === undefined ? null : (
        <p class="past-note" role="status">
          You are looking at the past.{" "}
          <button type="button" onClick={() => time.setCount(undefined)}>
            Back to now
          </button>
        </p>
      )}
      <div class="flow-bar">
        <div class="tabs" role="tablist" aria-label="Views">
          {views.filter((each) => each.key !== "definition" || hasFile).map((each) => (
            <button
              key={each.key}
              type="button"
              role="tab"
              aria-selected={shown === each.key}
              onClick={() => setQuery({ view: each.key === "graph" ? null : each.key })}
            >
              {each.label}
            </button>
          ))}
        </div>
        <Legend counts={counts} chosen={statesChosen(query)} />
      </div>
      {store.error === undefined ? null : <Problem error={store.error} retry={() => store.reload()} />}
      {shown === "definition" && hasFile ? (
        <Definition view={view} />
      ) : viewsProps === undefined ? (
        <p class="loading" role="status">
          Loading {store.loadedJobs.toLocaleString()} of {(view.job_count ?? 0).toLocaleString()} jobs…
        </p>
      ) : shown === "graph" ? (
        <GraphView
          {...viewsProps}
          lights={time.moment === undefined ? store.lights : pastLights}
          live={time.moment === undefined && !view.archived}
          momentMs={time.momentMs}
          nowMs={nowMs}
          unfolded={store.unfolded}
          onUnfold={toggle}
        />
      ) : shown === "timeline" ? (
        <TimelineView {...viewsProps} createdMs={view.created_ms ?? 0} endMs={nowMs} momentMs={time.momentMs} />
      ) : shown === "log" ? (
        <FlowLog {...viewsProps} />
      ) : (
        <ListView {...viewsProps} nowMs={nowMs} />
      )}
      {time.past === undefined ? null : (
        <TimeSlider past={time.past} history={time.history} count={time.count} onCount={time.setCount} onClose={time.close} />
      )}
    </div>
  );
}

export function FlowPage({ place }: PageProps) {
  const id = place.words[1] ?? "";
  const store = useFlow(id);
  const full = store?.view?.flow;
  useEffect(() => {
    // A prefix was given: the address gets the whole id.
    if (full !== undefined && full !== id && store?.id === id) navigate(flowPath(full) + location.search, true);
  }, [full]);
  useEffect(() => {
    document.title = `${store?.view?.name ?? id} · Reeve`;
    return () => void (document.title = "Reeve");
  }, [store?.view?.name, id]);
  if (store === undefined || store.id !== id) return <Loading />;
  return <Flow store={store} place={place} />;
}
