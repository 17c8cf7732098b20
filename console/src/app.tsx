// The frame around every page: who is looking, where one can go, whether the server is there.
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { useGet, useStreamState } from "./api/hooks";
import { logOut, useSession } from "./api/session";
import type { Schemas, Session } from "./api/client";
import { LogIn } from "./pages/login";
import { Link, navigate, usePlace, type Place } from "./router";
import { Loading } from "./ui/parts";
import { useTheme, type Theme } from "./ui/theme";
import { Toasts } from "./ui/toast";

export interface PageProps {
  place: Place;
}

interface PageEntry {
  path: string; // its first word
  label?: string; // in the navigation; without one it is reached from other pages
  key?: string; // pressed after g
  load: () => Promise<{ default: ComponentType<PageProps> }>;
}

/** Every page of the console. The server answers the same first words with the page (src/server/asset.c). */
const pages: PageEntry[] = [
  { path: "", label: "Overview", key: "o", load: () => import("./pages/overview") },
  { path: "flows", label: "Flows", key: "f", load: () => import("./pages/flows") },
  { path: "jobs", load: () => import("./pages/job") },
  { path: "approvals", label: "Approvals", key: "a", load: () => import("./pages/approvals") },
  { path: "new", label: "Constructor", key: "n", load: () => import("./pages/constructor") },
  { path: "workers", label: "Workers", key: "w", load: () => import("./pages/workers") },
  { path: "services", label: "Services", key: "s", load: () => import("./pages/services") },
  { path: "dead", label: "Dead letters", key: "d", load: () => import("./pages/dead") },
  { path: "schedules", label: "Schedules", key: "c", load: () => import("./pages/schedules") },
  { path: "store", label: "Store", key: "k", load: () => import("./pages/store") },
  { path: "audit", label: "Audit", key: "u", load: () => import("./pages/audit") },
  { path: "agents", label: "Agent runs", key: "r", load: () => import("./pages/agents") },
  { path: "playground", label: "Playground", key: "p", load: () => import("./pages/playground") },
];

function CurrentPage({ place }: PageProps) {
  const entry = pages.find((page) => page.path === (place.words[0] ?? ""));
  const [page, setPage] = useState<{ entry: PageEntry; view: ComponentType<PageProps> }>();
  useEffect(() => {
    if (entry === undefined) return;
    let wanted = true;
    void entry.load().then((module) => wanted && setPage({ entry, view: module.default }));
    return () => {
      wanted = false;
    };
  }, [entry]);
  if (entry === undefined) return <p class="empty">There is no page here. <Link href="/">Overview</Link></p>;
  if (page?.entry !== entry) return <Loading />;
  return <page.view place={place} />;
}

function Connection() {
  const state = useStreamState();
  const text = { open: "live", connecting: "connecting", waiting: "not connected" }[state];
  return <span class={`connection ${state}`} role="status">{text}</span>;
}

function ThemeChoice() {
  const [theme, choose] = useTheme();
  return (
    <select aria-label="Theme" value={theme} onChange={(event) => choose(event.currentTarget.value as Theme)}>
      <option value="system">System</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}

/** How many wait for a person, beside the page that lists them. */
function useOpenQuestions(): number {
  const questions = useGet<Schemas["listed"]>("/questions", { most: 100 }, (event) => event.type === "job" && (event.to === "held" || event.from === "held"));
  return questions.data?.questions?.length ?? 0;
}

function Navigation({ place, session }: { place: Place; session: Session }) {
  const waiting = useOpenQuestions();
  const here = place.words[0] ?? "";
  const list = useRef<HTMLElement>(null);
  // On a narrow screen the pages lie side by side, and not all are seen.
  useEffect(() => list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [here]);
  return (
    <nav aria-label="Pages" ref={list}>
      {pages.map((page) =>
        page.label === undefined || (page.path === "playground" && !session.playground) ? null : (
          <Link key={page.path} href={`/${page.path}`} aria-current={here === page.path ? "page" : undefined} title={`g ${page.key}`}>
            {page.label}
            {page.path === "approvals" && waiting > 0 ? <span class="count">{waiting}</span> : null}
          </Link>
        ),
      )}
    </nav>
  );
}

/** g and a letter goes to a page, / to the search of this one. */
function useShortcuts(): void {
  useEffect(() => {
    let last = "";
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, dialog")) return;
      const page = last === "g" ? pages.find((entry) => entry.key === event.key) : undefined;
      last = event.key;
      if (page !== undefined) navigate(`/${page.path}`);
      else if (event.key === "/") {
        document.querySelector<HTMLInputElement>("main input[type=search]")?.focus();
        event.preventDefault();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

function Frame({ place, session }: { place: Place; session: Session }) {
  useShortcuts();
  return (
    <div class="frame">
      <a class="skip" href="#main">To the content</a>
      <aside class="side">
        <Link href="/" class="brand">Reeve</Link>
        <Navigation place={place} session={session} />
        <footer>
          <Connection />
          <ThemeChoice />
          <span class="who" title={session.roles.join(", ")}>{session.name}</span>
          <button type="button" class="quiet" onClick={() => void logOut()}>Log out</button>
        </footer>
      </aside>
      <main id="main" tabIndex={-1}><CurrentPage place={place} /></main>
      <Toasts />
    </div>
  );
}

export function App() {
  const session = useSession();
  const place = usePlace();
  if (session.is === "asking") return <Loading />;
  if (session.is !== "in") return <LogIn unreachable={session.is === "unreachable"} />;
  return <Frame place={place} session={session.session} />;
}
