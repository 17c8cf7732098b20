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
  await page.getByLabel("Search").fill("harvest"); // what is typed is searched for, without Enter
  await row(page, bad).waitFor({ state: "detached" });
  await row(page, good).waitFor();
  assert.match(page.url(), /q=harvest/);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByLabel("Label", { exact: true }).fill("team=red");
  await page.getByLabel("Label", { exact: true }).press("Enter");
  await row(page, good).waitFor({ state: "detached" });
  await row(page, bad).waitFor();
  await page.getByLabel("Search").fill("no such flow");
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

spec("flows are sorted by a column, grouped by name, and a filter is saved", async ({ fresh, open }) => {
  const reeve = await fresh();
  for (const [name, run] of [["zebra", "sleep 0.3"], ["apple", "true"], ["apple", "exit 1"]])
    await reeve.ended(await reeve.submit({ name, jobs: { a: { run, retries: 0 } } }));
  const page = await open("/flows", { reeve });
  await page.getByRole("columnheader").getByRole("button", { name: "Took" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".flow-row .flow-name a")[0]?.textContent === "zebra");
  assert.match(page.url(), /sort=took/);
  await page.getByRole("button", { name: "Group by name" }).click();
  const apple = page.locator("tr[data-row=apple]");
  await apple.locator(".runs a").nth(1).waitFor();
  assert.equal(await apple.locator(".runs a").count(), 2);
  assert.equal(await apple.locator(".runs a.state-failed").count(), 1);
  assert.match(page.url(), /group=name/);
  await page.getByRole("button", { name: "Group by name" }).click();
  await page.getByRole("button", { name: "failed" }).click();
  await page.getByRole("button", { name: "Save this filter…" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("broken");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.goto("/flows");
  await page.getByRole("group", { name: "Saved filters" }).getByRole("link", { name: "broken" }).click();
  await page.waitForURL(/states=failed/);
  await page.waitForFunction(() => document.querySelectorAll(".flow-row:not(.rows-head)").length === 1);
});

spec("selected flows are cancelled and rerun together, after a question", async ({ fresh, open }) => {
  const reeve = await fresh();
  const flows = [];
  for (let i = 0; i < 3; i++) flows.push(await reeve.submit({ name: `nap-${i}`, jobs: { nap: { sleep: "1h" } } }));
  const page = await open("/flows", { reeve });
  const select = (flow) => page.getByRole("checkbox", { name: `Select ${flow}` }).check();
  await select(flows[0]);
  await select(flows[1]);
  await page.getByRole("button", { name: "Cancel selected" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByText("2 flows cancelled").waitFor();
  assert.equal((await reeve.ended(flows[0])).state, "cancelled");
  assert.equal((await reeve.ended(flows[1])).state, "cancelled");
  assert.equal((await reeve.show(flows[2])).state, "running");
  await select(flows[0]);
  await page.getByRole("button", { name: "Rerun selected" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rerun", exact: true }).click();
  await page.getByText("1 flow run again").waitFor();
  assert.equal((await reeve.show(flows[0])).state, "running");
  for (const flow of [flows[0], flows[2]]) await reeve.cli("cancel", flow);
});
