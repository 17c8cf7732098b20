// Addresses of the console: the path says which page, the query what of it, so that every view survives a reload and
// can be sent to a colleague.
import type { AnchorHTMLAttributes, ComponentChildren, TargetedMouseEvent } from "preact";
import { useEffect, useState } from "preact/hooks";

export interface Place {
  path: string;
  words: string[]; // of the path, decoded
  query: URLSearchParams;
}

function placeOf(url: { pathname: string; search: string }): Place {
  const words = url.pathname.split("/").filter((word) => word !== "").map(decodeURIComponent);
  return { path: url.pathname, words, query: new URLSearchParams(url.search) };
}

const watchers = new Set<() => void>();

export function navigate(to: string, replace = false): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  for (const watcher of [...watchers]) watcher();
}

/** Changes some of the query, keeps the rest; null removes. */
export function setQuery(changes: Record<string, string | null>, replace = true): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  navigate(location.pathname + (text === "" ? "" : `?${text}`), replace);
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location));
  useEffect(() => {
    const watcher = () => setPlace(placeOf(location));
    watchers.add(watcher);
    addEventListener("popstate", watcher);
    watcher();
    return () => {
      watchers.delete(watcher);
      removeEventListener("popstate", watcher);
    };
  }, []);
  return place;
}

export function flowPath(flow: string): string {
  return `/flows/${encodeURIComponent(flow)}`;
}

/** Of "f3k9a/train". */
export function jobPath(job: string): string {
  return `/jobs/${job.split("/").map(encodeURIComponent).join("/")}`;
}

type LinkProps = AnchorHTMLAttributes & { href: string; children: ComponentChildren };

export function Link({ href, onClick, ...rest }: LinkProps) {
  const follow = (event: TargetedMouseEvent<HTMLAnchorElement>) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(href);
  };
  return <a href={href} onClick={onClick ?? follow} {...rest} />;
}
