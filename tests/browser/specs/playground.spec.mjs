import assert from "node:assert/strict";

import { OUTAGE } from "../lib/browser.mjs";
import { assertEachOnce, eventsSince } from "../lib/events.mjs";
import { spec } from "../lib/spec.mjs";

const button = (page, name) => page.getByRole("button", { name, exact: true });
const server = (page, state) => page.locator(`[data-server="${state}"]`);
const figure = async (page, name) => page.locator(`[data-figure="${name}"]`).getAttribute("data-value");
const jobs = (page, state) => page.locator(`[data-job-state="${state}"]`);

async function flowShown(page) {
  await page.waitForURL(/flow=f/);
  return new URL(page.url()).searchParams.get("flow");
}

/** Every job ended well at its first attempt, and its process counted its seconds once. */
async function assertRanOnce(reeve, flow) {
  const ended = await reeve.ended(flow);
  assert.equal(ended.state, "succeeded");
  for (const { job, attempt } of ended.jobs) {
    assert.equal(attempt, 1, `${job} began again`);
    const lines = (await reeve.cli("logs", job)).trim().split("\n");
    assert.deepEqual(lines, lines.map((_, i) => `second ${i + 1} of ${lines.length}`), `log of ${job}`);
  }
}

// The steps of docs/guides/pull-the-plug.md.
spec("the plug is pulled by hand: seven steps, a real kill, nothing lost and nothing twice", async ({ fresh, open }) => {
  const reeve = await fresh({ flags: ["--playground"] });
  const page = await open("/playground", { reeve, allow: OUTAGE }); // 1. open the playground
  const step = (title) => page.locator(".story li.done", { hasText: title });
  await server(page, "running").waitFor();
  const pid = (await (await reeve.api("/playground")).json()).pid;
  await page.locator(".play-tools select").selectOption("Crash demo"); // 2. choose a graph
  await button(page, "Run it").click(); // 3. submit it
  const flow = await flowShown(page);
  await jobs(page, "running").first().waitFor();
  await step("A job runs").waitFor();
  const before = await (await reeve.api("/stats")).json();

  await button(page, "Pull the Plug").click(); // 4. pull the plug
  await server(page, "dead").waitFor(); // 5. look at what is left
  await page.getByRole("alert").filter({ hasText: "Outage" }).waitFor();
  await step("Outage").waitFor();
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" }, "the process of the server is gone");
  assert.equal((await reeve.api("/flows")).status, 503, "others are told to come again");
  assert.ok((await jobs(page, "running").count()) > 0, "what ran is still shown");

  await page.getByRole("alert").getByRole("button", { name: "Recover System" }).click(); // 6. recover
  await server(page, "running").waitFor();
  await page.getByRole("status", { name: "Recovery" }).waitFor();
  await step("Recover").waitFor();
  assert.equal(await figure(page, "lost"), "0");
  assert.equal(await figure(page, "again"), "0");
  assert.ok(Number(await figure(page, "adopted")) >= 1, "what ran was adopted");
  assert.ok(Number((await figure(page, "records")).replace(/\D/g, "")) > 0);
  await step("It goes on").waitFor({ timeout: 60_000 }); // 7. see it go on
  await assertRanOnce(reeve, flow);
  const after = await (await reeve.api("/stats")).json();
  assert.ok(after.lsn > before.lsn);
  const events = await eventsSince(reeve, "0.0", (event) => event.type === "flow" && event.target === flow && event.to === "succeeded");
  assertEachOnce(page, events.filter((event) => event.target.startsWith(flow)));
});

spec("the auto-demo tells the whole story in one click", async ({ fresh, open }) => {
  const reeve = await fresh({ flags: ["--playground"] });
  const page = await open("/playground", { reeve, allow: OUTAGE });
  await button(page, "Auto-Demo").click();
  const flow = await flowShown(page);
  await server(page, "dead").waitFor({ timeout: 30_000 });
  await server(page, "running").waitFor({ timeout: 30_000 });
  await button(page, "Auto-Demo").waitFor({ timeout: 60_000 }); // it stops by itself at the end
  await page.locator(".story li.done", { hasText: "It goes on" }).waitFor();
  assert.equal(await figure(page, "lost"), "0");
  assert.equal((await (await reeve.api("/playground")).json()).kills, 1);
  await assertRanOnce(reeve, flow);
});

spec("a page that is loaded again during the outage shows it, and can end it", async ({ fresh, open }) => {
  const reeve = await fresh({ flags: ["--playground"] });
  const page = await open("/playground", { reeve, allow: OUTAGE });
  await server(page, "running").waitFor();
  const other = await reeve.submit({ jobs: { elsewhere: { run: "sleep 60" } } });
  await button(page, "Run it").click();
  await flowShown(page);
  await jobs(page, "running").first().waitFor();
  const held = page.locator("[data-worker] .slot.taken");
  await held.filter({ hasText: `${other}/elsewhere` }).waitFor(); // the pool is of all flows
  await button(page, "Pull the Plug").click();
  await server(page, "dead").waitFor();
  await page.reload();
  await jobs(page, "running").first().waitFor(); // as it was when the server died
  await held.filter({ hasText: `${other}/elsewhere` }).waitFor();
  await page.locator(".story li.done", { hasText: "Outage" }).waitFor();
  await page.getByRole("alert").getByRole("button", { name: "Recover System" }).click();
  await server(page, "running").waitFor();
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
});

spec("a page that is loaded again in the middle of a run is built anew from state", async ({ fresh, open }) => {
  const reeve = await fresh({ flags: ["--playground"] });
  const page = await open("/playground?demo=diamond", { reeve });
  await button(page, "Run it").click();
  const flow = await flowShown(page);
  await jobs(page, "running").first().waitFor();
  await page.reload();
  await jobs(page, "succeeded").first().waitFor();
  await page.locator(".stage-head [data-state=succeeded]").waitFor({ timeout: 60_000 });
  assert.equal(await jobs(page, "succeeded").count(), 4);
  assert.equal((await reeve.ended(flow)).state, "succeeded");
});

spec("a failure and its cascade are shown and explained", async ({ fresh, open }) => {
  const reeve = await fresh({ flags: ["--playground"] });
  const page = await open("/playground?demo=cascade", { reeve });
  await button(page, "Run it").click();
  const flow = await flowShown(page);
  await page.locator("[data-demo-job=after]").hover();
  await page.locator("[data-demo-job=after]").getByRole("tooltip").getByText("Kahn's rule.").waitFor();
  await page.getByLabel("Internals").getByText(/ready per slot/).waitFor();
  await page.getByLabel("Internals").getByText(/jobs\/s/).waitFor();
  await page.locator("[data-demo-job=breaks] .stage-why", { hasText: "again in" }).waitFor();
  await page.locator("[data-demo-job=long-after][data-job-state=failed]").waitFor({ timeout: 60_000 });
  await page.locator("[data-demo-job=after]").focus();
  await page.getByText("The cascade.").waitFor();
  const ended = await reeve.ended(flow);
  const causes = Object.fromEntries(ended.jobs.map((job) => [job.job.split("/")[1], job.cause]));
  assert.equal(causes["long-after"], "upstream");
  assert.equal(causes.breaks, "exit");
});

spec("the event stream can be filtered, paused and cleared", async ({ fresh, open }) => {
  const reeve = await fresh({ flags: ["--playground"] });
  const page = await open("/playground", { reeve });
  const rows = page.locator(".event-list .event");
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  await page.getByText("Nothing happened since this page was opened.").waitFor();
  const first = await reeve.submit({ jobs: { one: { noop: true } } });
  await rows.filter({ hasText: `${first}/one` }).filter({ hasText: "succeeded" }).waitFor();
  await rows.filter({ hasText: `${first}/one` }).filter({ hasText: "ready" }).first().focus();
  await page.locator(".event-explanation", { hasText: "Kahn" }).waitFor();
  await page.getByLabel("Filter events").fill("no such thing");
  await page.getByText("No event fits the filter.").waitFor();
  await page.getByLabel("Filter events").fill("");
  await button(page, "Pause").click();
  await button(page, "Clear").click();
  assert.equal(await rows.count(), 0);
  const second = await reeve.submit({ jobs: { two: { noop: true } } });
  await reeve.ended(second);
  await eventsSince(reeve, "0.0", (event) => event.type === "flow" && event.target === second && event.to === "succeeded");
  assert.equal(await rows.count(), 0, "paused");
  await page.getByRole("button", { name: /^Go on/ }).click();
  await rows.filter({ hasText: `${second}/two` }).filter({ hasText: "succeeded" }).waitFor();
});

spec("where there is no playground the page says how to get one", async ({ open }) => {
  const page = await open("/playground", { allow: [/status of 404/] });
  await page.getByText("reeve up --playground").waitFor();
});
