// Every page, light and dark and on a phone: it shows itself without complaint, is not wider than its window, and its
// texts can be told from their ground (WCAG AA). With SCREENSHOTS=1 the pictures of docs/screenshots are made on the way.
import assert from "node:assert/strict";

import { openPage, closePage } from "../lib/browser.mjs";
import { faintTexts } from "../lib/contrast.mjs";
import { screenshot, wanted } from "../lib/screenshot.mjs";
import { spec } from "../lib/spec.mjs";

/** An estate with a bit of everything: what ran, runs, failed, waits for a person, comes again, stays up. */
async function settle(reeve) {
  const etl = await reeve.submit("examples/etl.yaml");
  const map = await reeve.submit("examples/map-reduce.yaml", "-p", "files=24");
  await Promise.all([reeve.ended(etl), reeve.ended(map)]);
  const failing = await reeve.submit({ name: "import", jobs: { read: "echo reading", parse: { needs: "read", run: "echo 'line 7: not a number' >&2; exit 1", retries: 0 }, load: { needs: "parse", run: "echo" } } });
  await reeve.ended(failing);
  const gate = await reeve.submit("examples/ml-gate.yaml");
  await reeve.cli("wait", `${gate}/evaluate`);
  for (const [name, tool] of [["research", "search"], ["write-up", "draft"]])
    await reeve.submit({ name, labels: { agent_run_id: "run-7", agent: "analyst" }, jobs: { plan: "echo planned", [tool]: { needs: "plan", run: `echo ${tool}` } } });
  await reeve.ended(await reeve.submit({ name: "site", jobs: { site: { service: { run: "exec sleep 600", name: "site" } }, mailer: { service: { run: "exec sleep 600", name: "mailer" } } } }));
  await reeve.cli("kv", "set", "release", "2026.11");
  await reeve.cli("kv", "incr", "visits", "41");
  const nightly = { name: "nightly", schedule: { cron: "30 2 * * mon-fri", zone: "Europe/Lisbon" }, jobs: { report: "echo done" } };
  await reeve.withFile(nightly, (file) => reeve.cli("schedule", "add", file));
  const busy = await reeve.submit({
    name: "train-and-ship", jobs: {
      fetch: "echo fetched", clean: { needs: "fetch", run: "echo cleaned" }, index: { needs: "fetch", run: "sleep 600" }, train: { needs: "clean", run: "printf '\\033[32mepoch 1\\033[0m loss 0.41\\nepoch 2 loss 0.29\\n'; sleep 600" },
      report: { needs: "index", run: "echo" }, ship: { needs: ["train", "report"], run: "echo" },
    },
  });
  await reeve.cli("wait", `${busy}/clean`);
  return { etl, failing, gate, busy };
}

const pagesOf = ({ busy }) => [
  ["flows", "/flows"],
  ["flow", `/flows/${busy}`],
  ["job", `/jobs/${busy}/train`],
  ["approvals", "/approvals"],
  ["constructor", "/new?template=ml-gate"],
  ["workers", "/workers"],
  ["services", "/services"],
  ["dead", "/dead"],
  ["schedules", "/schedules"],
  ["store", "/store"],
  ["audit", "/audit"],
  ["agents", "/agents"],
  ["playground", `/playground?flow=${busy}`],
];

/** Nothing is loading any more, and the page is live. */
async function settled(page) {
  await page.locator("main h1").first().waitFor();
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  await page.waitForFunction(() => document.querySelector("main .loading") === null);
}

const TICKS = 40; // of a second each: what the plots of a picture show

/** For pictures: work comes and goes while the page looks on. */
async function traffic(reeve, page) {
  const until = page.ticks + TICKS;
  for (let n = 0; page.ticks < until; n++) {
    const count = 3 + ((n * 7) % 11);
    const jobs = Object.fromEntries(Array.from({ length: count }, (_, i) => [`part-${i}`, { sleep: `${20 + ((i * 37) % 160)}ms` }]));
    await reeve.ended(await reeve.submit({ name: ["thumbnails", "invoices", "sync", "digest"][n % 4], jobs: { ...jobs, sum: { needs: Object.keys(jobs), run: n % 5 === 4 ? "test -e again || { touch again; exit 1; }" : "true", backoff: "200ms", workdir: reeve.data } } }));
  }
}

async function assertFits(page, name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 1, `${name} is ${wide} px wider than its window`);
}

async function look(page, name, { theme, width }) {
  await settled(page);
  await assertFits(page, `${name} at ${width}`);
  assert.deepEqual(await faintTexts(page), [], `${name}, ${theme}`);
  if (width > PHONE) await screenshot(page, name, theme);
}

const PHONE = 375;
const windows = [
  { theme: "light", width: 1280, height: 800 },
  { theme: "dark", width: 1280, height: 800 },
  { theme: "light", width: PHONE, height: 812 },
];

spec("every page shows itself, light, dark and on a phone", async ({ fresh }) => {
  const reeve = await fresh({ flags: ["--playground"], slots: 8 });
  const made = await settle(reeve);
  const pages = [];
  for (const window of windows) {
    const page = await openPage(reeve, "/", window);
    pages.push(page);
    for (const [name, path] of pagesOf(made)) {
      await page.goto(path);
      if (name === "constructor") await page.locator("[data-job=release]").click();
      await look(page, name, window);
    }
    await page.goto("/");
  }
  await settled(pages[0]);
  if (wanted) await traffic(reeve, pages[0]);
  for (const [i, page] of pages.entries()) {
    await look(page, "overview", windows[i]);
    await closePage(page);
  }
}, { timeout: wanted ? 400_000 : 180_000 });
