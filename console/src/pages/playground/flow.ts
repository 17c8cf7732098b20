// The demo flow, live: asked for once, changed by events, asked for again when the server is back.
import { useEffect, useState } from "preact/hooks";

import { ApiError, get, type FlowView, type Schemas } from "../../api/client";
import { stream, type ChangeEvent } from "../../api/events";
import { demoFlowOf, stepped, type DemoFlow } from "./facts";
import { keep, keptOf } from "./kept";

const JOBS_MAX = 500;
const SETTLE_MS = 150;

interface Picture {
  flow: DemoFlow;
  lsn: number; // up to and with this record
}

async function fetchFlow(id: string, signal: AbortSignal): Promise<Picture> {
  const path = `/flows/${encodeURIComponent(id)}`;
  const got = await get<{ flow?: FlowView }>(path, {}, signal);
  const graph = await get<Schemas["listed"]>(`${path}/graph`, { most: JOBS_MAX }, signal);
  return { flow: demoFlowOf(id, got.flow?.state ?? "", graph.jobs ?? []), lsn: graph.lsn ?? 0 };
}

const lsnOf = (event: ChangeEvent): number => Number(event.position.split(".")[0]);

/** A picture and the events since: those that it has already change nothing, those that came before it are kept for it. */
class Follower {
  private picture: Picture | undefined;
  private early: ChangeEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly abort = new AbortController();
  private readonly stop: () => void;

  constructor(
    private readonly id: string,
    private readonly show: (flow: DemoFlow) => void,
    private readonly fail: (error: ApiError) => void,
  ) {
    this.stop = stream.listen((event) => {
      if (event.type === "hello" || event.type === "gap") this.reload();
      else if (event.type !== "metrics") this.hear(event);
    });
    void this.load();
  }

  close(): void {
    this.abort.abort();
    clearTimeout(this.timer);
    this.stop();
  }

  private reload(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load(), SETTLE_MS);
  }

  private hear(event: ChangeEvent): void {
    this.early.push(event);
    if (this.picture === undefined || lsnOf(event) <= this.picture.lsn) return;
    this.take({ ...this.picture, flow: stepped(this.picture.flow, event) });
  }

  private async load(): Promise<void> {
    this.early = [];
    try {
      const got = await fetchFlow(this.id, this.abort.signal);
      this.take({ ...got, flow: this.early.filter((event) => lsnOf(event) > got.lsn).reduce(stepped, got.flow) });
    } catch (error) {
      // Without a server the last picture stays; a flow that is not there is said.
      if (error instanceof ApiError && error.status === 404) this.fail(error);
    }
    this.early = [];
  }

  private take(picture: Picture): void {
    this.picture = picture;
    keep("flow", picture.flow);
    this.show(picture.flow);
  }
}

export function useDemoFlow(id: string | null): { flow: DemoFlow | undefined; error: ApiError | undefined } {
  const [flow, setFlow] = useState<DemoFlow>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    setFlow(keptOf<DemoFlow>("flow")); // of another one: not shown, below
    setError(undefined);
    if (id === null) return;
    const follower = new Follower(id, setFlow, setError);
    return () => follower.close();
  }, [id]);
  return { flow: flow?.id === id ? flow : undefined, error };
}
