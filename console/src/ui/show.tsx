// Showing facts: pairs, tags, tabs, JSON, hashes that can be copied, times that run down.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { download } from "../api/client";
import { Link, setQuery } from "../router";
import { durationText, dateText, useNow } from "./parts";
import "./show.css";
import { say } from "./toast";

/** A link to a file of the server, which the page fetches: a link by itself shows the cookie, and that is not enough. */
export function Download({ href, name, children, ...rest }: { href: string; name: string; class?: string; title?: string; children: ComponentChildren }) {
  const fetchIt = (event: Event) => {
    event.preventDefault();
    download(href, name).catch((error: unknown) => say(error instanceof Error ? error.message : String(error), true));
  };
  return <a href={href} download={name} onClick={fetchIt} {...rest}>{children}</a>;
}

/** Pairs, below each other or side by side (flat); what has no value is left out. */
export function Facts({ of, flat = false }: { of: [string, ComponentChildren][]; flat?: boolean }) {
  const there = of.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false && value !== 0);
  return (
    <dl class={flat ? "facts flat" : "facts"}>
      {there.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

export function Tags({ of }: { of: string[] | Record<string, string> | undefined }) {
  const texts = Array.isArray(of) ? of : Object.entries(of ?? {}).map(([name, value]) => `${name}=${value}`);
  if (texts.length === 0) return null;
  return <span class="tags">{texts.map((text) => <span key={text} class="tag">{text}</span>)}</span>;
}

export interface Tab {
  id: string;
  label: string;
  count?: number | undefined;
}

/** Which tab is shown stands in the address as `view`. */
export function Tabs({ tabs, current }: { tabs: Tab[]; current: string }) {
  const hrefOf = (id: string) => {
    const query = new URLSearchParams(location.search);
    query.set("view", id);
    return `${location.pathname}?${query.toString()}`;
  };
  return (
    <div class="tabs" role="navigation" aria-label="Views">
      {tabs.map((tab) => (
        <Link key={tab.id} href={hrefOf(tab.id)} aria-current={tab.id === current ? "page" : undefined}>
          {tab.label}
          {tab.count ? <span class="badge-count">{tab.count}</span> : null}
        </Link>
      ))}
    </div>
  );
}

export function Copied({ text, shown }: { text: string; shown?: string }) {
  const copy = () => void navigator.clipboard.writeText(text).then(() => say("Copied."), () => say("the browser does not allow it", true));
  return (
    <span class="copied">
      <code title={text}>{shown ?? text}</code>
      <button type="button" class="quiet" onClick={copy} aria-label={`Copy ${text}`}>copy</button>
    </span>
  );
}

/** "in 12 s", then "due"; the date when pointed at. */
export function Countdown({ ms, over = "due now" }: { ms: number; over?: string }) {
  const now = useNow();
  return <time dateTime={new Date(ms).toISOString()} title={dateText(ms)}>{ms > now ? `in ${durationText(ms - now)}` : over}</time>;
}

/** How long something that began has been going on. */
export function Elapsed({ from, to }: { from: number | undefined; to: number | undefined }) {
  const now = useNow();
  if (!from) return <span class="faint">–</span>;
  return <span>{durationText(Math.max(0, (to || now) - from))}</span>;
}

/** A bar; of what can be used up, nearly full is warned of. */
export function Meter({ share, label, warn = false }: { share: number; label: string; warn?: boolean }) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <span class={warn && percent >= 90 ? "meter high" : "meter"} role="img" aria-label={label} title={label}>
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}

/** JSON as people read it; what is none, as it is. */
export function prettyJson(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

const TYPING_MS = 250;

/** A field of a filter: the text is in the address a moment after the last key. */
export function useQueryField(name: string, value: string): { value: string; onInput: (event: { currentTarget: { value: string } }) => void } {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => setQuery({ [name]: typed }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value, name]);
  return { value: typed, onInput: (event) => setTyped(event.currentTarget.value) };
}
