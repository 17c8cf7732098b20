// One Chromium for the whole run, and a context (cookies, storage) of its own for each page that a spec opens. A page
// that says an error, throws one, or breaks the content policy fails its spec.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

import { isDev, serveSources } from "./dev.mjs";

const { chromium } = createRequire(new URL("../../../console/", import.meta.url))("playwright-core");

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
const WAIT_MS = 15_000; // for what a page is to show; a busy machine needs some of it

let browser;

function chromiumOnce() {
  browser ??= chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGS });
  return browser;
}

export async function closeBrowser() {
  await (await browser)?.close();
}

/** What a page complains about. `allow` has patterns of complaints that a spec provokes on purpose. */
class Complaints {
  constructor() {
    this.all = [];
    this.allowed = [];
  }
  watch(page) {
    page.on("console", (message) => {
      if (message.type() === "error") this.all.push(`${message.text()} (${message.location().url})`);
    });
    page.on("pageerror", (error) => this.all.push(`thrown: ${error.stack ?? error}`));
    page.on("crash", () => this.all.push("the page crashed"));
  }
  check() {
    const left = this.all.filter((text) => !this.allowed.some((pattern) => pattern.test(text)));
    assert.deepEqual(left, [], "the page complained");
  }
}

/** Complaints of the browser itself about a server that is away: for specs that kill it. */
export const OUTAGE = [/net::ERR_/, /WebSocket connection to/, /status of 503/];

/**
 * A page of someone who is logged in by the one-time link, at `path`.
 * theme: light or dark; width, height: of the window; allow: complaints to forgive; loggedIn: false for a stranger;
 * through: a cable (lib/cable.mjs) in place of the direct way.
 */
export async function openPage(reeve, path = "/", options = {}) {
  if (isDev) reeve.pages ??= await serveSources(reeve);
  const { theme = "light", width = 1280, height = 800, allow = [], loggedIn = true } = options;
  const base = options.through?.url ?? reeve.pages ?? reeve.url;
  const context = await (await chromiumOnce()).newContext({
    baseURL: base,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: options.motion ? "no-preference" : "reduce",
    acceptDownloads: true,
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const complaints = new Complaints();
  complaints.allowed.push(...allow, ...(isDev ? [/WebSocket connection to/] : []));
  complaints.watch(page);
  page.complaints = complaints;
  record(page);
  if (loggedIn && !isDev) await page.goto((await reeve.loginLink()).replace(reeve.url, base));
  if (!loggedIn || isDev || path !== "/") await page.goto(path);
  if (loggedIn) await page.locator("nav").first().waitFor();
  return page;
}

/** Closes the page and fails if it complained. */
export async function closePage(page) {
  await page.context().close();
  page.complaints.check();
}

/** page.positions: every position that came over the page's event streams, in order; page.ticks: how many metrics did. */
function record(page) {
  page.positions = [];
  page.ticks = 0;
  page.on("websocket", (socket) => {
    socket.on("framereceived", ({ payload }) => {
      const event = JSON.parse(String(payload));
      if (event.type === "metrics") page.ticks++;
      else if (event.type !== "hello") page.positions.push(event.position);
    });
  });
}
