// The frame around every page: who is looking, where one can go, whether the server is there.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { useGet, useStreamState } from "./api/hooks";
import { logOut, useSession } from "./api/session";
import type { Schemas, Session } from "./api/client";
import { LogIn } from "./pages/login";
import { Link, navigate, usePlace, type Place } from "./router";
import { KeysDialog } from "./ui/keys";
import { NotifySwitch } from "./ui/notify";
import { Loading, personText } from "./ui/parts";
import { SearchDialog } from "./ui/search";
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
  const [open, setOpen] = useState(false); // on a narrow screen, where the list is folded
  const here = place.words[0] ?? "";
  useEffect(() => setOpen(false), [place]);
  const count = waiting > 0 ? <span class="count">{waiting}</span> : null;
  const current = pages.find((page) => page.path === here)?.label ?? "Pages";
  return (
    <nav aria-label="Pages" class={open ? "open" : undefined}>
      <button type="button" class="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span aria-hidden="true">☰</span> {current} {count}
      </button>
      <div class="pages">
        {pages.map((page) =>
          page.label === undefined || (page.path === "playground" && !session.playground) ? null : (
            <Link key={page.path} href={`/${page.path}`} aria-current={here === page.path ? "page" : undefined} title={`g ${page.key}`}>
              {page.label}
              {page.path === "approvals" ? count : null}
            </Link>
          ),
        )}
      </div>
    </nav>
  );
}

type Shown = "search" | "keys" | undefined;

/** g and a letter goes to a page, / and Ctrl K search, ? tells the keys. */
function useShortcuts(show: (what: Shown) => void): void {
  useEffect(() => {
    let last = "";
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const isSearch = (event.ctrlKey || event.metaKey) && event.key === "k" && target.closest("dialog") === null;
      if (isSearch) {
        show("search");
        event.preventDefault();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, dialog")) return;
      const page = last === "g" ? pages.find((entry) => entry.key === event.key) : undefined;
      last = event.key;
      if (page !== undefined) navigate(`/${page.path}`);
      else if (event.key === "/" || event.key === "?") {
        show(event.key === "/" ? "search" : "keys");
        event.preventDefault();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

const labelled = pages.flatMap((page) => (page.label === undefined ? [] : [{ ...page, label: page.label, key: page.key ?? "" }]));

function Frame({ place, session }: { place: Place; session: Session }) {
  const [shown, show] = useState<Shown>();
  useShortcuts(show);
  const hide = () => show(undefined);
  const there = labelled.filter((page) => page.path !== "playground" || session.playground);
  return (
    <div class="frame">
      <a class="skip" href="#main">To the content</a>
      <aside class="side">
        <Link href="/" class="brand">Reeve</Link>
        <button type="button" class="search-button" onClick={() => show("search")}>
          Search <kbd>/</kbd>
        </button>
        <Navigation place={place} session={session} />
        <footer>
          <Connection />
          <NotifySwitch />
          <ThemeChoice />
          <span class="who" title={`${session.name}: ${session.roles.join(", ")}`}>{personText(session.name)}</span>
          <span class="footer-row">
            <button type="button" class="quiet" onClick={() => void logOut()}>Log out</button>
            <button type="button" class="quiet keys-button" aria-label="Keys" title="Keys" onClick={() => show("keys")}>?</button>
          </span>
        </footer>
      </aside>
      <main id="main" tabIndex={-1}><CurrentPage place={place} /></main>
      <Toasts />
      {shown === "search" ? <SearchDialog pages={there.map((page) => ({ kind: "page", text: page.label, href: `/${page.path}` }))} onClose={hide} /> : null}
      {shown === "keys" ? <KeysDialog pages={there} onClose={hide} /> : null}
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
