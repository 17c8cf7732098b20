// spec(): one fact about the console, shown in a real browser against a real server.
import { closePage, openPage } from "./browser.mjs";
import { Reeve, stopAll } from "./reeve.mjs";

export const specs = [];
const SPEC_MS = 90_000;

/** Specs that run one after the other. Most of them use one server; they name what they make so that it is theirs. */
export class Lane {
  server() {
    return (this.shared ??= Reeve.start());
  }
}

/**
 * run gets { reeve, open, fresh }: the shared server; open(path, options) → a page of it, logged in, closed and checked
 * for complaints at the end; fresh(options) → a server of its own, for specs that kill it or need it empty.
 * alone: it measures how fast a page is, so nothing else may run.
 */
export function spec(name, run, { timeout = SPEC_MS, alone = false } = {}) {
  specs.push({ name, timeout, alone, run: (lane) => runOne(lane, run) });
}

/** What a page looked like and said when its spec failed. */
async function autopsy(page) {
  const picture = `${process.env.BROWSER_LOGS ?? "/tmp"}/browser-failure-${Date.now()}.png`;
  await page.screenshot({ path: picture }).catch(() => undefined);
  const url = page.url();
  await page.context().close().catch(() => undefined);
  return [`page ${url}, picture ${picture}`, ...page.complaints.all.map((text) => `page said: ${text}`)].join("\n  ");
}

async function runOne(lane, run) {
  const pages = [];
  const own = [];
  const given = {
    reeve: await lane.server(),
    fresh: async (options) => {
      const reeve = await Reeve.start(options);
      own.push(reeve);
      return reeve;
    },
    open: async (path, options = {}) => {
      const page = await openPage(options.reeve ?? given.reeve, path, options);
      pages.push(page);
      return page;
    },
  };
  try {
    await run(given);
    for (const page of pages.splice(0)) await closePage(page);
  } catch (error) {
    const told = [];
    for (const page of pages) told.push(await autopsy(page));
    throw new Error([error.message, ...told].join("\n"), { cause: error });
  } finally {
    for (const reeve of own) await reeve.stop();
  }
}

export const stopServers = stopAll;
