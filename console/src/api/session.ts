// Who is looking. The cookie itself is out of reach for scripts; the server says whose it is. The other half of the
// session comes with the login: in its answer, or behind the # of the address that a login link leads to.
import { useEffect, useState } from "preact/hooks";

import { ApiError, del, get, post, setCsrf, type Session } from "./client";

export type SessionState = { is: "asking" } | { is: "out" } | { is: "in"; session: Session } | { is: "unreachable" };

let current: SessionState = { is: "asking" };
const watchers = new Set<(state: SessionState) => void>();

// A playground's server may be dead when the page is loaded again. Who was in then still is: the cookie says so to the
// supervisor, and this says so to the page.
const KEPT = "reeve.session";

function keep(state: SessionState): void {
  if (state.is === "in" && state.session.playground) sessionStorage.setItem(KEPT, JSON.stringify(state.session));
  if (state.is === "out") sessionStorage.removeItem(KEPT);
}

function keptSession(): Session | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(KEPT) ?? "null") as Session | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function become(state: SessionState): void {
  current = state;
  keep(state);
  for (const watcher of [...watchers]) watcher(state);
}

const GIVEN = "#csrf=";

function takeGiven(): void {
  if (!location.hash.startsWith(GIVEN)) return;
  setCsrf(location.hash.slice(GIVEN.length));
  history.replaceState(null, "", location.pathname + location.search);
}
takeGiven();

export async function askSession(): Promise<void> {
  try {
    become({ is: "in", session: await get<Session>("/session") });
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    const kept = status === 503 ? keptSession() : undefined;
    if (kept !== undefined) become({ is: "in", session: kept });
    else become(status === 401 || status === 403 ? { is: "out" } : { is: "unreachable" });
  }
}

export interface Issuer {
  name: string;
  title: string;
  browser: boolean;
}

/** The identity providers that log browsers in; none when the server cannot be asked. */
export async function askIssuers(): Promise<Issuer[]> {
  try {
    const answer = await fetch("/login/issuers");
    const { issuers } = (await answer.json()) as { issuers: Issuer[] };
    return issuers.filter((issuer) => issuer.browser);
  } catch {
    return [];
  }
}

export async function logIn(token: string): Promise<void> {
  const { csrf = "", ...session } = await post<Session>("/session", { token });
  setCsrf(csrf);
  become({ is: "in", session });
}

export async function logOut(): Promise<void> {
  await del("/session");
  setCsrf("");
  become({ is: "out" });
}

export function useSession(): SessionState {
  const [state, setState] = useState(current);
  useEffect(() => {
    watchers.add(setState);
    if (current.is === "asking") void askSession();
    return () => void watchers.delete(setState);
  }, []);
  return state;
}

/** The session of a page that is shown only to those who have one. */
export function sessionNow(): Session {
  if (current.is !== "in") throw new Error("nobody is logged in");
  return current.session;
}

export function may(...roles: string[]): boolean {
  return current.is === "in" && ["admin", ...roles].some((role) => sessionNow().roles.includes(role));
}
