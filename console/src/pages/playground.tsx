// Pull the plug on a real server and see what is lost. The supervisor of `reeve up --playground` keeps the port and
// answers while the server is dead; everything that this page needs is loaded by then.
import { useEffect, useRef, useState } from "preact/hooks";

import { post } from "../api/client";
import { useStreamState } from "../api/hooks";
import { may } from "../api/session";
import type { PageProps } from "../app";
import { Link, flowPath, setQuery } from "../router";
import { Empty, Loading, Page, Problem, StateBadge, durationText, useNow } from "../ui/parts";
import { act } from "../ui/toast";
import { demos } from "./playground/demos";
import { EventPanel } from "./playground/events";
import { useDemoFlow } from "./playground/flow";
import { Guarantees, Internals, RecoveryReport, WorkerPool } from "./playground/panels";
import "./playground/playground.css";
import { Stage } from "./playground/stage";
import { usePlayground, type PlaygroundState } from "./playground/status";
import { nextDeed, reached, steps, type Facts } from "./playground/story";

function ServerState({ state }: { state: PlaygroundState }) {
  const { now } = state;
  useNow();
  if (now === undefined) return null;
  const words = { running: "Server runs", dead: "Server is dead", starting: "Server starts" };
  return (
    <p class={`server-state ${now.server}`} role="status" data-server={now.server} data-kills={now.kills}>
      <strong>{words[now.server]}</strong>
      {now.pid ? <span class="mono"> pid {now.pid}</span> : null}
      <span class="faint"> {now.kills === 0 ? "never killed so far" : `killed ${now.kills} ${now.kills === 1 ? "time" : "times"}`}</span>
    </p>
  );
}

function Outage({ state, recover }: { state: PlaygroundState; recover: () => void }) {
  useNow();
  const { now, heardMs } = state;
  if (now === undefined || now.server === "running") return null;
  const left = Math.max(0, (now.restart_in_ms ?? 0) - (Date.now() - heardMs));
  return (
    <div class="outage" role="alert">
      {now.server === "starting" ? <p><strong>Recovering.</strong> The server reads its journal back.</p> : (
        <>
          <p><strong>Outage.</strong> The server was killed with SIGKILL: no goodbye, nothing written on the way out. Its supervisor keeps the port and serves this page; jobs that ran go on in their workers.
            {now.restart_in_ms === undefined ? "" : ` It is started again by itself in ${durationText(left)}.`}</p>
          <button type="button" class="primary" onClick={recover}>Recover System</button>
        </>
      )}
    </div>
  );
}

function Story({ done, auto }: { done: number; auto: boolean }) {
  return (
    <ol class={auto ? "story auto" : "story"} aria-label="The seven steps">
      {steps.map((step, i) => (
        <li key={step.id} class={i < done ? "done" : i === done ? "next" : ""} aria-current={i === done ? "step" : undefined}>
          <strong>{step.title}</strong>
          <span>{step.text}</span>
        </li>
      ))}
    </ol>
  );
}

/** Does what a person would do, one thing at a time, as soon as the facts allow it. */
function useAutoDemo(auto: boolean, facts: Facts, deeds: { submit: () => Promise<unknown>; kill: () => Promise<unknown>; recover: () => Promise<unknown> }, finish: () => void): void {
  const busy = useRef(false);
  const deadSince = useRef(0);
  const now = useNow(250);
  const dead = facts.now?.server === "dead";
  if (!dead) deadSince.current = 0;
  else if (deadSince.current === 0) deadSince.current = now;
  useEffect(() => {
    if (!auto || busy.current) return;
    if (reached(facts) === steps.length) return finish();
    const deed = nextDeed(facts, dead ? now - deadSince.current : 0);
    if (deed === undefined) return;
    busy.current = true;
    void deeds[deed]()
      .then((done) => done === undefined && finish()) // a refusal was said already
      .finally(() => (busy.current = false));
  });
}

const BEGUN = "reeve.playground.kills"; // how often it had been killed when this flow was submitted; for a reload

function Running({ state, place }: { state: PlaygroundState } & PageProps) {
  const [auto, setAuto] = useState(false);
  const chosen = demos.find((demo) => demo.id === place.query.get("demo")) ?? demos[0]!;
  const id = place.query.get("flow");
  const { flow, error } = useDemoFlow(id);
  const streaming = useStreamState() === "open";
  const now = state.now!;
  const dead = now.server !== "running";
  const facts: Facts = { flow, chosen: true, submitted: id !== null, now, killsBefore: Number(sessionStorage.getItem(BEGUN) ?? now.kills), streaming };

  const submit = (demo = chosen) =>
    act(async () => {
      const key = `playground-${[...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16)).join("")}`;
      sessionStorage.setItem(BEGUN, String(now.kills));
      const got = await post<{ flow: string }>("/flows", demo.file, { "idempotency-key": key });
      setQuery({ demo: demo.id, flow: got.flow }, false);
      return got;
    });
  const kill = () => act(async () => (await state.kill(), true));
  const recover = () => act(async () => (await state.recover(), true));
  useAutoDemo(auto, facts, { submit, kill, recover }, () => setAuto(false));
  const begin = () => {
    sessionStorage.setItem(BEGUN, String(now.kills));
    setQuery({ demo: "crash", flow: null }, false);
    setAuto(true);
  };

  const allowed = may("operator");
  return (
    <Page title="Playground" actions={<ServerState state={state} />}>
      <div class="play-tools">
        <label>Flow
          <select value={chosen.id} disabled={auto} onChange={(event) => setQuery({ demo: event.currentTarget.value, flow: null })}>
            {demos.map((demo) => <option key={demo.id} value={demo.id}>{demo.title}</option>)}
          </select>
        </label>
        <p class="faint">{chosen.text}</p>
        <div class="actions">
          <button type="button" disabled={dead || auto} onClick={() => void submit()}>Run it</button>
          <button type="button" class="plug" disabled={dead || !allowed} onClick={() => void kill()}>Pull the Plug</button>
          <button type="button" disabled={now.server !== "dead" || !allowed} onClick={() => void recover()}>Recover System</button>
          <button type="button" class="primary" disabled={(dead && !auto) || !allowed} aria-pressed={auto} onClick={() => (auto ? setAuto(false) : begin())}>{auto ? "Stop the demo" : "Auto-Demo"}</button>
        </div>
      </div>
      <Story done={reached(facts)} auto={auto} />
      <Outage state={state} recover={() => void recover()} />
      {dead ? null : <RecoveryReport now={now} />}
      <div class="play-grid">
        <section class="card stage-panel" aria-label="The flow">
          {id === null ? <Empty>Run the flow to see it here, or let the Auto-Demo do everything.</Empty> : error !== undefined ? <Problem error={error} /> : flow === undefined ? (dead ? <Empty>What this flow does is known again after the recovery.</Empty> : <Loading />) : (
            <>
              <p class="stage-head"><Link href={flowPath(flow.id)} class="mono">{flow.id}</Link> <StateBadge state={flow.state} /></p>
              <Stage flow={flow} dead={dead} />
            </>
          )}
        </section>
        <div class="play-side">
          <WorkerPool flow={flow} dead={dead} />
          <Internals flow={flow} dead={dead} />
        </div>
      </div>
      <EventPanel />
      <Guarantees />
    </Page>
  );
}

export default function Playground({ place }: PageProps) {
  const state = usePlayground();
  if (state.missing !== "")
    return <Page title="Playground"><Empty>Here one can pull the plug on the server and see that nothing is lost. This server was not started for that: <code>reeve up --playground</code> does.</Empty></Page>;
  if (state.now === undefined) return <Page title="Playground"><Loading /></Page>;
  return <Running state={state} place={place} />;
}
