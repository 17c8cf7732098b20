import assert from "node:assert/strict";

import { spec } from "../lib/spec.mjs";

const tile = (page, label) => page.locator(".tile", { hasText: label }).locator("b");
const part = (page, name) => page.getByRole("region", { name });

spec("the overview shows workers, what waits for a person, what failed and the newest flows", async ({ fresh, open }) => {
  const reeve = await fresh({ slots: 3 });
  const page = await open("/", { reeve });
  await part(page, "Waiting for a person").getByText("Nothing waits").waitFor();
  await part(page, "Workers").getByText("0/3").waitFor();
  const flow = await reeve.submit({
    name: "release",
    jobs: {
      broken: { run: "exit 3", retries: 0 },
      nap: { sleep: "1h" },
      gate: { gate: { message: "Deploy it?" } },
    },
  });
  await part(page, "Failed lately").getByText(`${flow}/broken`).waitFor();
  await part(page, "Failed lately").getByText("exit code 3").waitFor();
  await part(page, "Waiting for a person").getByText("Deploy it?").waitFor();
  await part(page, "Workers").getByText("1/3").waitFor();
  await part(page, "Recent flows").getByRole("link", { name: "release" }).waitFor();
  await tile(page, "flows running").filter({ hasText: /^1$/ }).waitFor();
  await tile(page, "dead letters").filter({ hasText: /^1$/ }).waitFor();
  await part(page, "Waiting for a person").getByRole("link", { name: "Decide" }).click();
  await page.waitForURL("**/approvals**");
  assert.equal((await reeve.json("dead"))[0].job, `${flow}/broken`);
  // the newest of many, not the oldest
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`j${i}`, { run: "exit 1", retries: 0 }]));
  await reeve.ended(await reeve.submit({ jobs: many }));
  const last = await reeve.submit({ jobs: { last: { run: "exit 4", retries: 0 } } });
  await page.getByRole("link", { name: "Overview" }).click();
  await part(page, "Failed lately").getByText(`${last}/last`).waitFor();
  await reeve.cli("cancel", flow); // a server that stops waits for what runs
});

spec("the plots follow the server's numbers, and what they showed outlives the page", async ({ fresh, open }) => {
  const reeve = await fresh();
  const page = await open("/", { reeve });
  const throughput = page.getByRole("figure", { name: /^Throughput/ });
  // Some end in each of a few seconds, so that no tick of the numbers can miss all of them.
  const jobs = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`j${i}`, { sleep: "200ms" }]));
  await throughput.waitFor();
  await reeve.submit({ jobs });
  await page.waitForFunction(() => /succeeded [1-9]/.test(document.querySelector("figure")?.getAttribute("aria-label") ?? ""));
  await page.getByRole("link", { name: "Flows", exact: true }).click();
  await page.getByRole("table", { name: "Flows" }).waitFor();
  await page.reload();
  const kept = await page.evaluate(() => JSON.parse(sessionStorage.getItem("reeve.metrics") ?? "[]").length);
  assert.ok(kept >= 2, `${kept} ticks were kept over a reload`);
});

spec("the overview opens with a past, the flows of the day, the next schedules and the server itself", async ({ fresh, open }) => {
  const reeve = await fresh();
  const nightly = { name: "nightly", schedule: { cron: "30 2 * * *" }, jobs: { report: "echo done" } };
  await reeve.withFile(nightly, (file) => reeve.cli("schedule", "add", file));
  await reeve.ended(await reeve.submit({ jobs: { a: { noop: true } } }));
  await reeve.ended(await reeve.submit({ name: "broken", jobs: { a: { run: "exit 1", retries: 0 } } }));
  const page = await open("/", { reeve });
  await tile(page, "flows ok / failed").filter({ hasText: "1 / 1" }).waitFor();
  await page.locator(".plot-box[data-points]").first().waitFor();
  const past = page.waitForResponse((answer) => answer.url().includes("/stats/history") && answer.url().includes("step_ms=899000"));
  await page.getByRole("button", { name: "24 h" }).click();
  assert.ok((await (await past).json()).samples.length >= 2, "since the server started");
  assert.match(page.url(), /span=24h/);
  await page.waitForFunction(() => Number(document.querySelector(".plot-box").dataset.points) >= 1);
  await part(page, "Next schedules").getByRole("link", { name: "nightly" }).waitFor();
  await part(page, "Failed lately").getByText("broken", { exact: true }).waitFor();
  await part(page, "Server").locator("[data-health=Journal][data-good=true]").getByText("free for new work").waitFor();
});

spec("the overview is painted within a second", async ({ reeve, open }) => {
  const page = await open("/flows", { reeve });
  await page.goto("/");
  await page.locator(".tile b").first().waitFor();
  const painted = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  if (process.env.BROWSER_DEV !== "1") assert.ok(painted < 1000, `after ${painted} ms`);
}, { alone: true });
