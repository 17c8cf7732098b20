// Search over everything: flows, jobs, workers, services, schedules, keys of the store and pages, from any page. The
// server is asked when the typing pauses; what it finds comes as each answer comes.
import { useEffect, useRef, useState } from "preact/hooks";

import { get, type Query, type Schemas } from "../api/client";
import { textOf } from "../api/pages";
import { flowPath, jobPath, Link, navigate } from "../router";
import { Dialog } from "./parts";
import "./search.css";

export interface Hit {
  kind: string;
  text: string;
  note?: string | undefined;
  href: string;
}

const TYPING_MS = 200;
const MOST = 6; // of a kind

type Listed = Schemas["listed"];
type Ask = <T>(path: string, query: Query) => Promise<T>;

const has = (name: string | undefined, text: string) => name?.toLowerCase().includes(text.toLowerCase()) === true;

/** What looks like an id needs no search. */
export function directHits(text: string): Hit[] {
  const id = /^(f[0-9][0-9a-z]+)(?:\/(.+))?$/.exec(text);
  if (id === null) return [];
  return id[2] === undefined
    ? [{ kind: "flow", text, href: flowPath(text) }]
    : [{ kind: "job", text, href: jobPath(text) }];
}

async function flows(text: string, ask: Ask): Promise<Hit[]> {
  const got = await ask<Listed>("/flows", { text, most: MOST });
  return (got.flows ?? []).map((flow) => ({ kind: "flow", text: flow.name ?? flow.flow ?? "", note: `${flow.flow} ${flow.state}`, href: flowPath(flow.flow ?? "") }));
}

async function jobs(text: string, ask: Ask): Promise<Hit[]> {
  const got = await ask<Listed>("/flows", { job: text, most: MOST });
  return (got.flows ?? []).map((flow) => ({ kind: "job", text: `${flow.flow}/${text}`, note: flow.name, href: jobPath(`${flow.flow}/${text}`) }));
}

async function workers(text: string, ask: Ask): Promise<Hit[]> {
  const got = await ask<Listed>("/workers", { most: 500 });
  return (got.workers ?? [])
    .filter((worker) => has(worker.worker, text) || has(worker.pool, text))
    .slice(0, MOST)
    .map((worker) => ({ kind: "worker", text: worker.worker ?? "", note: worker.pool, href: `/workers?name=${encodeURIComponent(worker.worker ?? "")}` }));
}

async function services(text: string, ask: Ask): Promise<Hit[]> {
  const got = await ask<Schemas["service_list"]>("/services", { most: 500 });
  return (got.services ?? [])
    .filter((service) => has(service.name, text))
    .slice(0, MOST)
    .map((service) => ({ kind: "service", text: service.name ?? "", note: service.state, href: `/services?name=${encodeURIComponent(service.name ?? "")}` }));
}

async function schedules(text: string, ask: Ask): Promise<Hit[]> {
  const got = await ask<Schemas["schedule_list"]>("/schedules", { most: 500 });
  return (got.schedules ?? [])
    .filter((schedule) => has(schedule.name, text))
    .slice(0, MOST)
    .map((schedule) => ({ kind: "schedule", text: schedule.name ?? "", note: schedule.expression, href: `/schedules?open=${encodeURIComponent(schedule.name ?? "")}` }));
}

async function keys(text: string, ask: Ask): Promise<Hit[]> {
  const got = await ask<Schemas["kv_items"]>("/store", { prefix: text, most: MOST });
  return (got.items ?? []).map((item) => {
    const key = textOf(item.key) ?? "";
    return { kind: "key", text: key, note: item.kind, href: `/store?key=${encodeURIComponent(key)}` };
  });
}

const sources = [flows, jobs, workers, services, schedules, keys];

function useHits(text: string, pages: Hit[]): { hits: Hit[]; busy: boolean } {
  const [found, setFound] = useState<{ text: string; lists: Hit[][]; left: number }>({ text: "", lists: [], left: 0 });
  useEffect(() => {
    if (text === "") return;
    const abort = new AbortController();
    const ask: Ask = (path, query) => get(path, query, abort.signal);
    const timer = setTimeout(() => {
      setFound({ text, lists: [], left: sources.length });
      sources.forEach((source, at) => {
        const take = (hits: Hit[]) =>
          setFound((last) => {
            if (last.text !== text) return last;
            const lists = [...last.lists];
            lists[at] = hits;
            return { text, lists, left: last.left - 1 };
          });
        source(text, ask).then(take, () => !abort.signal.aborted && take([]));
      });
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  if (text === "") return { hits: pages, busy: false };
  const here = found.text === text ? found.lists.flatMap((list) => list ?? []) : [];
  const direct = directHits(text);
  const known = new Set(direct.map((hit) => hit.href));
  const all = [...direct, ...pages.filter((page) => has(page.text, text)), ...here.filter((hit) => !known.has(hit.href))];
  return { hits: all, busy: found.text !== text || found.left > 0 };
}

function Search({ pages, onClose }: { pages: Hit[]; onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const { hits, busy } = useHits(text.trim(), pages);
  const chosen = Math.min(at, Math.max(0, hits.length - 1));
  useEffect(() => field.current?.focus(), []);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [chosen]);
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return;
    onClose();
    navigate(hit.href);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, hits.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") open(hits[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <div class="search-all">
      <input
        ref={field} type="search" aria-controls="search-hits"
        aria-label="Search everything" placeholder="A flow, job, worker, service, schedule or key" value={text} onKeyDown={pressed}
        onInput={(event) => (setText(event.currentTarget.value), setAt(0))}
      />
      <ul id="search-hits" role="listbox" aria-label="Found" ref={list}>
        {hits.map((hit, index) => (
          <li key={`${hit.kind} ${hit.href}`} id={`hit-${index}`} role="option" aria-selected={index === chosen}>
            <Link href={hit.href} tabIndex={-1} onClick={(event) => (event.preventDefault(), open(hit))}>
              <span class="tag">{hit.kind}</span> <span class="search-text">{hit.text}</span> <span class="faint">{hit.note}</span>
            </Link>
          </li>
        ))}
      </ul>
      <p class="hint" role="status">
        {busy ? "Searching…" : text.trim() !== "" && hits.length === 0 ? "Nothing found. Keys of the store and jobs are found by their whole name or its beginning." : "↑ ↓ choose, Enter opens"}
      </p>
    </div>
  );
}

export function SearchDialog({ pages, onClose }: { pages: Hit[]; onClose: () => void }) {
  return <Dialog title="Search" open onClose={onClose}><Search pages={pages} onClose={onClose} /></Dialog>;
}
