import assert from "node:assert/strict";

import { spec } from "../lib/spec.mjs";

const rows = (page) => page.getByRole("table", { name: "Flows" }).locator(".flow-row:not(.rows-head)");
const row = (page, flow) => rows(page).filter({ has: page.getByText(flow, { exact: true }) });

spec("flows are found by state, words and label, and the address keeps the filter", async ({ fresh, open }) => {
  const reeve = await fresh();
  const good = await reeve.submit({ name: "harvest", labels: { team: "blue" }, jobs: { a: { noop: true } } });
  const bad = await reeve.submit({ name: "threshing", labels: { team: "red" }, jobs: { a: { run: "exit 1", retries: 0 } } });
  await reeve.ended(good);
  await reeve.ended(bad);
  const page = await open("/flows", { reeve });
  await row(page, good).waitFor();
  await row(page, bad).waitFor();
  await page.getByRole("button", { name: "failed" }).click();
  await row(page, good).waitFor({ state: "detached" });
  await page.reload();
  await row(page, bad).waitFor();
  assert.equal(await rows(page).count(), 1);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByLabel("Search").fill("harvest");
  await page.getByLabel("Search").press("Enter");
  await row(page, bad).waitFor({ state: "detached" });
  await row(page, good).waitFor();
  assert.match(page.url(), /q=harvest/);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByLabel("Label", { exact: true }).fill("team=red");
  await page.getByLabel("Label", { exact: true }).press("Enter");
  await row(page, good).waitFor({ state: "detached" });
  await row(page, bad).waitFor();
  await page.getByLabel("Search").fill("no such flow");
  await page.getByLabel("Search").press("Enter");
  await page.getByText("No flow fits these filters.").waitFor();
});

spec("a new flow appears at the head, and its state follows", async ({ fresh, open }) => {
  const reeve = await fresh();
  const page = await open("/flows", { reeve });
  await page.getByText("No flow yet.").waitFor();
  const flow = await reeve.submit({ name: "seed", jobs: { nap: { sleep: "1h" } } });
  await row(page, flow).locator("[data-state=running]").waitFor();
  await reeve.cli("cancel", flow);
  await row(page, flow).locator("[data-state=cancelled]").waitFor();
});

spec("thousands of flows scroll, and only those that are seen exist", async ({ fresh, open }) => {
  const reeve = await fresh();
  const count = 3000;
  const first = await reeve.submit({ name: "the-oldest", jobs: { a: { noop: true } } });
  let left = count;
  const submit = async () => {
    while (left-- > 0) await reeve.api("/flows", { method: "POST", body: JSON.stringify({ jobs: { a: { noop: true } } }) });
  };
  await Promise.all(Array.from({ length: 16 }, submit));
  const page = await open("/flows", { reeve });
  await rows(page).first().waitFor();
  // As someone who drags the bar to its end, and again as more comes.
  for (let end = -1; ;) {
    const now = await page.evaluate(() => {
      const list = document.querySelector(".rows");
      list.scrollTop = list.scrollHeight;
      return list.scrollHeight;
    });
    if (await row(page, first).count()) break;
    await page.waitForFunction(
      ([before, oldest]) => document.querySelector(".rows").scrollHeight !== before || document.body.textContent.includes(oldest),
      [now, "the-oldest"],
    );
    assert.notEqual(now, end);
    end = now;
  }
  await row(page, first).waitFor();
  assert.ok((await rows(page).count()) < 60, `${await rows(page).count()} rows are in the page`);
  await page.evaluate(() => (document.querySelector(".rows").scrollTop = 0));
  await page.locator(".flow-row[aria-rowindex='1'] a").waitFor();
});
