// One flow, live: asked for once, then changed by events. What an event cannot tell (a graph that grew, how it ended)
// is asked for anew.
import { useEffect, useState } from "preact/hooks";

import { ApiError, get, type FlowView, type JobView, type Schemas } from "../../api/client";
import { comparePositions, stream, type ChangeEvent, type StreamEvent } from "../../api/events";
import { Lights } from "./lights";
import { attemptsOf, graphOf, nowOf, step, stepAttempts, type Attempt, type FlowGraph, type JobNow } from "./model";

const PAGE_JOBS = 1000;
const SETTLE_MS = 250; // a burst of reasons to ask anew is one
const UNFOLD_MAX = 2000; // items of one foreach job that are drawn

/** Who asked for reduced motion sees changes at once. */
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function sameShape(a: FlowGraph, b: FlowGraph): boolean {
  return (
    a.nodes.length === b.nodes.length &&
    a.edges.length === b.edges.length &&
    a.edges.every((end, i) => end === b.edges[i]) &&
    a.nodes.every((node, i) => node.name === b.nodes[i]!.name && node.items === b.nodes[i]!.items)
  );
}

export class FlowStore {
  view: FlowView | undefined;
  graph: FlowGraph | undefined;
  now: JobNow[] = [];
  attempts: Attempt[][] = [];
  error: ApiError | undefined;
  loadedJobs = 0; // while it loads
  readonly unfolded = new Map<string, JobView[]>();
  readonly lights = new Lights();
  /** Events since the page looks, for a time slider that is open. */
  readonly onEvent = new Set<(event: ChangeEvent) => void>();

  private lsns: number[] = []; // each job is as of this LSN
  private lsnMin = 0;
  private jobs: JobView[] = [];
  private readonly watchers = new Set<() => void>();
  private readonly abort = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private frame = 0;
  private loading = false;
  private again = false;
  private fallen: { index: number; before: JobNow | undefined }[] = []; // by a cascade, since the last frame
  private early: ChangeEvent[] = []; // came while the jobs were being asked for
  private readonly unlisten: () => void;

  constructor(readonly id: string) {
    this.unlisten = stream.listen((event) => this.hear(event));
    void this.load();
  }

  close(): void {
    this.unlisten();
    this.abort.abort();
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
  }

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  reload(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.load();
    }, SETTLE_MS);
  }

  async unfold(name: string): Promise<void> {
    const items: JobView[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.page({ items_of: name, cursor });
      items.push(...(page.jobs ?? []));
      cursor = page.cursor as string | undefined;
    } while (cursor !== undefined && items.length < UNFOLD_MAX);
    this.unfolded.set(name, items);
    this.take(
      this.jobs,
      this.jobs.map(() => this.lsnMin),
      items.length > 0,
    );
  }

  fold(name: string): void {
    this.unfolded.delete(name);
    this.take(
      this.jobs,
      this.jobs.map(() => this.lsnMin),
      true,
    );
  }

  // ---- asking ----

  private page(query: Record<string, string | undefined>): Promise<Schemas["listed"]> {
    return get<Schemas["listed"]>(
      `/flows/${encodeURIComponent(this.id)}/graph`,
      { most: PAGE_JOBS, ...query },
      this.abort.signal,
    );
  }

  private async load(): Promise<void> {
    if (this.loading) {
      this.again = true;
      return;
    }
    this.loading = true;
    try {
      const got = await get<Schemas["got"]>(`/flows/${encodeURIComponent(this.id)}`, {}, this.abort.signal);
      this.view = got.flow;
      if (this.graph === undefined) this.tell();
      const jobs: JobView[] = [];
      const lsns: number[] = [];
      let cursor: string | undefined;
      do {
        const page: Schemas["listed"] = await this.page({ cursor });
        jobs.push(...(page.jobs ?? []));
        while (lsns.length < jobs.length) lsns.push(page.lsn ?? 0);
        cursor = page.cursor as string | undefined;
        this.loadedJobs = jobs.length;
        if (this.graph === undefined) this.tell();
      } while (cursor !== undefined);
      for (const name of this.unfolded.keys()) this.unfolded.set(name, (await this.page({ items_of: name })).jobs ?? []);
      this.error = undefined;
      this.take(jobs, lsns, false);
    } catch (why) {
      if (this.abort.signal.aborted) return;
      this.error = why instanceof ApiError ? why : new ApiError(0, "unknown", String(why));
      this.tell();
    }
    this.loading = false;
    const early = this.early;
    this.early = [];
    for (const event of early) this.apply(event);
    if (this.again) {
      this.again = false;
      this.reload();
    }
  }

  private take(jobs: JobView[], lsns: number[], keepStates: boolean): void {
    const old = { graph: this.graph, now: this.now, attempts: this.attempts };
    const graph = graphOf(this.view?.flow ?? this.id, jobs, this.unfolded);
    const all = [...jobs, ...[...this.unfolded.values()].flat()];
    this.jobs = jobs;
    this.lsns = all.map((_, i) => lsns[i] ?? lsns[0] ?? 0);
    this.lsnMin = Math.min(...new Set(this.lsns), Infinity);
    this.now = all.map((job, i) => (keepStates && i < jobs.length ? (old.now[i] ?? nowOf(job)) : nowOf(job)));
    this.attempts = all.map((job, i) => (keepStates && i < jobs.length ? (old.attempts[i] ?? attemptsOf(job)) : attemptsOf(job)));
    this.graph = old.graph !== undefined && sameShape(old.graph, graph) ? old.graph : graph;
    this.tell();
  }

  // ---- hearing ----

  private hear(event: StreamEvent): void {
    if (event.type === "metrics" || event.type === "worker" || event.type === "service") return;
    if (event.type === "gap") return this.reload();
    if (event.type === "hello") {
      if (this.graph !== undefined && comparePositions(event.position, `${this.lsnMin}.0`) > 0) this.reload();
      return;
    }
    const flow = this.view?.flow ?? this.id;
    if (event.target !== flow && !event.target.startsWith(`${flow}/`)) return;
    if (this.loading) this.early.push(event);
    else this.apply(event);
  }

  private apply(event: ChangeEvent): void {
    for (const listener of [...this.onEvent]) listener(event);
    if (event.type === "flow") {
      if (this.view !== undefined && event.to !== undefined) this.view = { ...this.view, state: event.to };
      this.reload(); // it grew, began to unwind, or is over
      return this.tell();
    }
    const graph = this.graph;
    if (graph === undefined) return;
    const index = graph.byName.get(event.target.slice(graph.flow.length + 1));
    const lsn = Number(event.position.split(".")[0]);
    if (index !== undefined && lsn <= (this.lsns[index] ?? 0)) return; // the answer had it already
    const before = index === undefined ? undefined : this.now[index];
    const changed = step(graph, this.now, event);
    if (changed < 0) return this.reload(); // a job that is not known yet
    if (index !== undefined) {
      this.attempts[index] = stepAttempts(this.attempts[index] ?? [], event);
      if (isStill()) return this.tell();
      if (event.cause === "upstream") this.fallen.push({ index, before });
      else this.lights.flash(index, performance.now());
    }
    this.tell();
  }

  /** Once per frame, however many events came. */
  private tell(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.fallen.length > 0) this.lights.cascade(this.fallen, performance.now());
      this.fallen = [];
      this.now = this.now.slice(); // who draws sees by it that something changed
      this.attempts = this.attempts.slice();
      for (const watcher of [...this.watchers]) watcher();
    });
  }
}

/** The flow of this id; renders again when something of it changed. */
export function useFlow(id: string): FlowStore | undefined {
  const [, setVersion] = useState(0);
  const [store, setStore] = useState<FlowStore>();
  useEffect(() => {
    const next = new FlowStore(id);
    setStore(next);
    const unwatch = next.watch(() => setVersion((version) => version + 1));
    return () => {
      unwatch();
      next.close();
    };
  }, [id]);
  return store;
}
