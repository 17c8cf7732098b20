// Workers, services, dead letters, schedules, store, audit, agent runs: every action, verified by the command line.
import assert from "node:assert/strict";

import { spec } from "../lib/spec.mjs";

const row = (page, key) => page.locator(`tr[data-row="${key}"]`);
const confirmed = (page, name) => page.getByRole("dialog").getByRole("button", { name }).click();

spec("a worker is drained and takes jobs again; what it runs is shown", async ({ open, fresh }) => {
  const own = await fresh();
  const flow = await own.submit({ name: "held", jobs: { nap: { sleep: "1h" } } });
  const page = await open("/workers", { reeve: own });
  const worker = page.locator("tr[data-row]");
  await worker.getByText("1 of 4").waitFor();
  const name = await worker.getAttribute("data-row");
  await page.getByRole("list", { name: `Running on ${name}` }).getByRole("link", { name: `${flow}/nap` }).waitFor();
  await own.cli("cancel", flow);
  await worker.getByText("0 of 4").waitFor();
  await worker.getByRole("button", { name: "Drain" }).click();
  await worker.locator(".state-timed_out", { hasText: "draining" }).waitFor();
  assert.equal((await own.json("workers"))[0].draining, true);
  await worker.getByRole("button", { name: "Take jobs again" }).click();
  await worker.getByText("takes jobs").waitFor();
  assert.equal((await own.json("workers"))[0].draining ?? false, false);
});

spec("a worker is started from the browser; a name that is taken is refused in the dialog", async ({ reeve, open }) => {
  const page = await open("/workers", { allow: [/status of 409/] });
  const dialog = page.getByRole("dialog");
  const start = async () => {
    await page.getByRole("button", { name: "Start a worker…" }).click();
    await dialog.getByLabel("Slots").fill("2");
    await dialog.getByLabel("Name").fill("by-hand");
    await dialog.getByLabel("Labels").fill("zone=b");
    await dialog.getByRole("button", { name: "Start it" }).click();
  };
  await start();
  const started = page.locator("tr[data-row^=by-hand]");
  await started.getByText("zone=b").waitFor();
  const found = (await reeve.json("workers")).find((each) => each.worker.startsWith("by-hand"));
  assert.equal(found.slots, 2);
  assert.equal(found.attached, true);
  await start();
  await dialog.getByRole("alert").getByText("was already started").waitFor();
});

spec("a service is restarted, stopped, started and removed", async ({ reeve, open }) => {
  await reeve.withFile({ name: "svc", jobs: { clock: { service: { run: "while :; do echo tick; sleep 0.2; done", restart: { base: "10ms", cap: "10ms" } } } } }, (file) => reeve.cli("deploy", file));
  const state = async () => (await reeve.json("services", "clock"))[0];
  const page = await open("/services");
  const clock = row(page, "clock");
  await clock.locator("[data-service-state=healthy]").waitFor();
  const { attempt } = await state();
  await clock.getByRole("button", { name: "Restart" }).click();
  await page.getByText("clock starts anew").waitFor();
  await reeve.cli("start", "clock");
  await clock.locator("[data-service-state=healthy]").waitFor();
  await clock.getByRole("button", { name: "Stop" }).click();
  await confirmed(page, "Stop");
  await clock.locator("[data-service-state=stopped]").waitFor();
  assert.ok((await state()).attempt > attempt, "it was started anew");
  assert.equal((await state()).state, "stopped");
  await clock.getByRole("button", { name: "Start" }).click();
  await clock.locator("[data-service-state=healthy]").waitFor();
  assert.equal((await state()).state, "running");
  await clock.getByRole("link", { name: "Log" }).click();
  await page.getByText("tick").first().waitFor();
  await page.goBack();
  await clock.getByRole("button", { name: "Stop" }).click();
  await confirmed(page, "Stop");
  await clock.getByRole("button", { name: "Remove" }).click();
  await confirmed(page, "Remove");
  await clock.waitFor({ state: "detached" });
  assert.equal((await reeve.json("services")).some((each) => each.name === "clock"), false);
});

spec("a service shows its versions and its health, and goes back to an earlier version", async ({ reeve, open }) => {
  const deploy = (run) => reeve.withFile({ jobs: { shop: { service: { run, name: "shop" } } } }, (file) => reeve.cli("deploy", file));
  await deploy("echo one; exec sleep 1000");
  await deploy("echo two; exec sleep 1000");
  const page = await open("/services?open=shop");
  const versions = page.getByRole("table", { name: "Versions of shop" });
  await versions.locator("[data-version-state=current]").waitFor();
  assert.equal(await versions.locator("tbody tr").count(), 2);
  assert.equal(await page.locator(".version-strip i").count(), 2);
  await page.locator("[data-health=healthy]").first().waitFor();
  assert.equal(await versions.locator("[data-row='2']").getByRole("button").count(), 0, "the current one is no way back");
  await versions.locator("[data-row='1']").getByRole("button", { name: "Roll back…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep" }).click();
  assert.equal((await reeve.json("services", "shop"))[0].version, 2, "nobody has confirmed it");
  await versions.locator("[data-row='1']").getByRole("button", { name: "Roll back…" }).click();
  await confirmed(page, "Roll back");
  await versions.locator("[data-row='3'] [data-version-state=current]").waitFor();
  await versions.locator("[data-row='2'] [data-version-state=retired]").waitFor();
  assert.match(await reeve.cli("logs", "shop"), /one/);
  await reeve.cli("undeploy", "shop");
});

const dies = (count) => ({ name: "dies", jobs: Object.fromEntries(Array.from({ length: count }, (_, at) => [`bad${at}`, { run: "exit 1", retries: 0 }])) });

spec("dead letters are retried and discarded, one, selected and all", async ({ open, fresh }) => {
  const own = await fresh();
  const flow = await own.submit(dies(5));
  await own.ended(flow);
  const names = async () => (await own.json("dead")).map((job) => job.job.split("/")[1]).sort();
  const page = await open("/dead", { reeve: own });
  await row(page, `${flow}/bad0`).getByRole("button", { name: "Discard" }).click();
  await row(page, `${flow}/bad0`).waitFor({ state: "detached" });
  assert.deepEqual(await names(), ["bad1", "bad2", "bad3", "bad4"]);
  await row(page, `${flow}/bad1`).getByRole("button", { name: "Retry" }).click();
  await page.getByText(`${flow}/bad1 starts again`).waitFor();
  assert.equal((await own.ended(`${flow}/bad1`)).attempt, 2);
  await row(page, `${flow}/bad2`).getByRole("checkbox").check();
  await row(page, `${flow}/bad3`).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Discard selected" }).click();
  await confirmed(page, "Discard");
  await page.getByText("2 discarded").waitFor();
  assert.deepEqual(await names(), ["bad1", "bad4"]);
  await page.getByRole("button", { name: "Retry all" }).click();
  await confirmed(page, "Retry");
  await page.getByText("2 start again").waitFor();
  assert.equal((await own.ended(`${flow}/bad4`)).attempt, 2);
  await own.ended(flow);
  await row(page, `${flow}/bad1`).waitFor();
  await row(page, `${flow}/bad4`).waitFor();
  await page.getByRole("button", { name: "Discard all" }).click();
  await confirmed(page, "Discard");
  await page.getByText("No dead letters").waitFor();
  assert.deepEqual(await names(), []);
});

spec("dead letters are filtered by flow and by how they ended, in the address", async ({ reeve, open }) => {
  const flow = await reeve.submit(dies(1));
  const other = await reeve.submit(dies(1));
  await reeve.ended(flow);
  await reeve.ended(other);
  const page = await open(`/dead?flow=${flow}`);
  await row(page, `${flow}/bad0`).waitFor();
  assert.equal(await row(page, `${other}/bad0`).count(), 0);
  await page.getByLabel("Ended").selectOption("timed_out");
  await page.getByText("No dead letter fits the filter").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("state"), "timed_out");
});

spec("dead letters are sorted, named by their flow, and handled by cause", async ({ open, fresh }) => {
  const own = await fresh();
  const jobs = { a1: { run: "exit 7", retries: 0 }, a2: { run: "exit 7", retries: 0 }, slow: { run: "sleep 60", timeout: "100ms", retries: 0 } };
  const flow = await own.submit({ name: "causes", jobs });
  await own.ended(flow);
  const page = await open("/dead", { reeve: own });
  await row(page, `${flow}/a1`).getByText("causes").waitFor();
  const first = () => page.locator("tr[data-row]").first().getAttribute("data-row");
  await page.getByRole("columnheader", { name: "Job" }).getByRole("button").click();
  await page.waitForURL(/sort=job/);
  assert.equal(await first(), `${flow}/a1`);
  await page.getByRole("button", { name: "Group by cause" }).click();
  const causes = page.getByRole("table", { name: "Dead letters by cause" });
  const exits = causes.locator("tbody tr").filter({ hasText: "exit 7" });
  await exits.getByText("2", { exact: true }).waitFor();
  await exits.getByRole("button", { name: "Discard" }).click();
  await confirmed(page, "Discard");
  await page.getByText("2 discarded").waitFor();
  assert.deepEqual((await own.json("dead")).map((job) => job.job), [`${flow}/slow`]);
});

spec("workers can be drained in a window of 1280 pixels, however much they can do", async ({ open, fresh }) => {
  const page = await open("/workers", { reeve: await fresh() });
  const box = await page.getByRole("button", { name: "Drain" }).boundingBox();
  assert.ok(box.x + box.width <= 1280, `Drain ends at ${box.x + box.width} px`);
});

spec("keys that keep blobs are shown when asked for", async ({ reeve, open }) => {
  const text = await reeve.withFile({ jobs: { a: { noop: true } } }, (file) => reeve.cli("blob", "put", file));
  const hash = /[0-9a-f]{64}/.exec(text)[0];
  await reeve.cli("kv", "set", "zoo", "1"); // behind all keys of blobs
  const page = await open("/store");
  await row(page, "zoo").waitFor();
  assert.equal(await row(page, `blob:${hash}`).count(), 0);
  await page.getByLabel("Keys of blobs, too").check();
  await row(page, `blob:${hash}`).waitFor();
});

spec("a schedule is added, paused, resumed, backfilled and removed", async ({ reeve, open }) => {
  const schedule = async () => (await reeve.json("schedule", "ls")).find((each) => each.name === "hourly");
  const page = await open("/schedules", { allow: [/status of 400/] });
  await page.getByRole("button", { name: "Add a schedule…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("hourly");
  await dialog.getByLabel("minute hour day").fill("61 * * * *");
  await dialog.getByLabel("Flow file").fill('{"jobs": {"n": {"noop": true}}}');
  await dialog.getByRole("button", { name: "Add it" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("minute hour day").fill("0 * * * *");
  await dialog.getByRole("button", { name: "Add it" }).click();
  const hourly = row(page, "hourly");
  await hourly.waitFor();
  assert.match((await schedule()).expression, /^cron 0 \* \* \* \*; zone Europe\/Berlin$/);
  await hourly.getByRole("button", { name: "hourly" }).click();
  await page.getByText("in your time zone (Europe/Berlin)").waitFor();
  assert.equal(await page.locator(".ahead li").count(), 5);
  await hourly.getByRole("button", { name: "Pause" }).click();
  await hourly.locator("[data-paused]").waitFor();
  assert.equal((await schedule()).paused, true);
  await hourly.getByRole("button", { name: "Resume" }).click();
  await hourly.locator("[data-paused]").waitFor({ state: "detached" });
  assert.equal((await schedule()).paused ?? false, false);
  await hourly.getByRole("button", { name: "Backfill…" }).click();
  const from = new Date(Date.now() - 3 * 3600_000);
  const local = from.toLocaleString("sv-SE", { timeZone: "Europe/Berlin" }).slice(0, 16).replace(" ", "T");
  await dialog.getByLabel("From").fill(local);
  await dialog.getByRole("button", { name: "Backfill" }).click();
  await page.getByText("hourly fires for the past").waitFor();
  await hourly.getByRole("link").first().waitFor();
  assert.ok((await schedule()).fired >= 1);
  await hourly.locator("[data-state]").waitFor(); // how the last run went
  await page.locator(".runs a").first().waitFor(); // and the ones before it
  await hourly.getByRole("button", { name: "Remove" }).click();
  await confirmed(page, "Remove");
  await hourly.waitFor({ state: "detached" });
  assert.equal(await schedule(), undefined);
});

spec("the calendar of a schedule shows its runs and the slots to come", async ({ reeve, open }) => {
  const flow = { name: "daily", schedule: { cron: "30 2 * * *", zone: "Europe/Berlin" }, jobs: { a: { noop: true } } };
  await reeve.withFile(flow, (file) => reeve.cli("schedule", "add", file));
  const day = (days) => new Date(Date.now() + days * 86_400_000).toLocaleDateString("sv-SE", { timeZone: "Europe/Berlin" });
  await reeve.cli("schedule", "run", "daily", "--slot", day(0), "-w");
  const page = await open("/schedules?open=daily");
  const calendar = page.getByRole("region", { name: "Calendar of daily" });
  const today = calendar.locator(`[data-day='${day(0)}']`);
  await today.locator(".state-succeeded").waitFor();
  assert.equal(await today.getAttribute("aria-current"), "date");
  const run = await today.locator("[data-run]").getAttribute("data-run");
  await today.locator("[data-run]").click();
  await page.waitForURL(`**/flows/${run}`);
  await page.goBack();
  await today.waitFor();
  if (day(2).slice(0, 7) !== day(0).slice(0, 7)) await calendar.getByRole("button", { name: "Next month" }).click();
  const later = calendar.locator(`[data-day='${day(2)}']`);
  await later.locator("[data-ahead]").waitFor();
  await later.getByRole("button").first().click();
  await calendar.getByText("02:30 to come").waitFor();
  await row(page, "daily").getByRole("button", { name: "Run now" }).click();
  await page.waitForURL(/\/flows\/f/);
  await reeve.cli("schedule", "rm", "daily");
});

spec("the store is browsed and changed, and not over the head of another", async ({ reeve, open }) => {
  const value = async (key) => (await reeve.json("kv", "get", key))[0];
  await reeve.cli("kv", "set", "shop/colour", "blue");
  const page = await open("/store?prefix=shop/", { allow: [/status of 409/] });
  await page.getByRole("link", { name: "shop/colour" }).click();
  const key = page.getByRole("article", { name: "Key shop/colour" });
  await key.getByLabel("Value").fill("green");
  await key.getByRole("button", { name: "Save" }).click();
  await page.getByText("shop/colour is set").waitFor();
  assert.equal((await value("shop/colour")).value, "green");
  await key.getByLabel("Value").fill("black");
  await reeve.cli("kv", "set", "shop/colour", "red");
  await key.getByText("It was changed meanwhile").waitFor(); // and what was typed is still there
  assert.equal(await key.getByLabel("Value").inputValue(), "black");
  await key.getByRole("button", { name: "Save" }).click();
  await page.locator(".toast.bad").waitFor();
  assert.equal((await value("shop/colour")).value, "red");
  await key.getByRole("button", { name: "Show that" }).click();
  assert.equal(await key.getByLabel("Value").inputValue(), "red");
  await page.getByRole("button", { name: "Set a key…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Key").fill("shop/visits");
  await dialog.getByLabel("Kind").selectOption("number");
  await dialog.getByLabel("Number to add").fill("40");
  await dialog.getByRole("button", { name: "Set it" }).click();
  const visits = page.getByRole("article", { name: "Key shop/visits" });
  await visits.getByLabel("Add").fill("2");
  await visits.getByRole("button", { name: "Add" }).click();
  await visits.getByText("42").first().waitFor();
  assert.equal((await value("shop/visits")).number, 42);
  await visits.getByLabel("Ends").fill("2030-01-01T00:00");
  await visits.getByRole("button", { name: "Set", exact: true }).click();
  await page.getByText("shop/visits ends then").waitFor();
  assert.equal((await value("shop/visits")).expires_ms, Date.parse("2029-12-31T23:00:00Z"));
  await visits.getByRole("button", { name: "Delete" }).click();
  await confirmed(page, "Delete");
  await row(page, "shop/visits").waitFor({ state: "detached" });
  assert.deepEqual((await reeve.json("kv", "ls", "shop/")).map((item) => item.kind).length, 1);
});

spec("keys that others change are shown as they are, without asking", async ({ reeve, open }) => {
  await reeve.cli("kv", "set", "live/one", "first");
  const page = await open("/store?prefix=live/&key=live/one");
  const key = page.getByRole("article", { name: "Key live/one" });
  await page.locator("[data-live=true]").waitFor({ state: "attached" });
  await reeve.cli("kv", "set", "live/one", "second");
  await row(page, "live/one").getByText("second").waitFor();
  await page.waitForFunction(() => document.querySelector(".kv-text")?.value === "second");
  await reeve.cli("kv", "set", "live/two", "new here");
  await row(page, "live/two").getByText("new here").waitFor();
  await reeve.cli("kv", "add", "live/set", "a");
  await row(page, "live/set").getByText("1 members").waitFor();
  await reeve.cli("kv", "del", "live/two");
  await row(page, "live/two").waitFor({ state: "detached" });
  await reeve.cli("kv", "del", "live/one");
  await page.getByText("There is no key").waitFor();
  await key.waitFor({ state: "detached" });
});

spec("members of a set are added and removed", async ({ reeve, open }) => {
  await reeve.cli("kv", "add", "tags/all", "a", "b");
  const page = await open("/store?key=tags/all");
  const members = page.getByRole("list", { name: "Members" });
  const member = (name) => members.getByRole("listitem").filter({ hasText: new RegExp(`^${name}`) });
  await member("a").waitFor();
  await page.getByRole("textbox", { name: "Member" }).fill("c");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await member("c").waitFor();
  await members.getByRole("button", { name: "Remove a" }).click();
  await member("a").waitFor({ state: "detached" });
  const got = await (await reeve.api("/store?keys=tags/all&members=true")).json();
  assert.deepEqual(got.members, ["b", "c"]);
});

spec("the audit tells who did what, filtered in the address, and links to it", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "audited", jobs: { nap: { sleep: "1h" } } });
  await reeve.cli("cancel", flow);
  const page = await open(`/audit?flow=${flow}`);
  const table = page.getByRole("table", { name: "Audit records" });
  const link = table.getByRole("link", { name: flow, exact: true }).first();
  await link.waitFor();
  const told = await (await reeve.api(`/audit?flow=${flow}&people=true`)).json();
  assert.equal(await table.locator("tbody tr").count(), told.records.length);
  await link.click();
  await page.waitForURL(new RegExp(`/flows/${flow}`));
});

spec("the audit shows people, not what the server decides by itself", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "judged", jobs: { y: { when: "1 == 2", noop: true } } });
  await reeve.ended(flow);
  const page = await open(`/audit?flow=${flow}`);
  const table = page.getByRole("table", { name: "Audit records" });
  await table.getByText("submitted").waitFor();
  assert.equal(await table.getByText("verdict").count(), 0);
  await page.getByLabel("Also what the server and workers did").check();
  await table.getByText("verdict").first().waitFor();
});

spec("flows of one agent run are one row", async ({ reeve, open }) => {
  const flows = [];
  for (const run of ["exit 0", "exit 1"])
    flows.push(await reeve.submit({ name: "step", labels: { agent_run_id: "run-42" }, jobs: { a: { run, retries: 0 } } }));
  for (const flow of flows) await reeve.ended(flow);
  const page = await open("/agents");
  const run = row(page, "run-42");
  await run.getByText("2 of 2").waitFor();
  await run.getByRole("button", { name: "run-42" }).click();
  for (const flow of flows) await row(page, flow).waitFor();
  assert.equal(new URL(page.url()).searchParams.get("run"), "run-42");
  const asked = page.waitForResponse((answer) => answer.url().includes("/flows?") && answer.url().includes("label=agent_run_id"));
  await page.reload();
  const listed = await (await asked).json(); // nobody else's flows come to the page
  assert.ok(listed.flows.every((flow) => flow.labels?.agent_run_id !== undefined));
  await row(page, flows[0]).waitFor();
  await page.getByRole("link", { name: "All flows of this run" }).click();
  for (const flow of flows) await page.locator("main").getByText(flow, { exact: true }).first().waitFor();
});
