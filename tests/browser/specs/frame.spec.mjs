import assert from "node:assert/strict";
import { createServer } from "node:http";

import { spec } from "../lib/spec.mjs";

spec("the one-time link lets a browser in, and the page is live", async ({ open }) => {
  const page = await open("/");
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  assert.equal(new URL(page.url()).search, "", "the ticket does not stay in the address");
});

spec("a stranger is asked for a token, and let in by it", async ({ reeve, open }) => {
  const page = await open("/flows", { loggedIn: false, allow: [/status of 401/] });
  await page.getByLabel("Token").fill(reeve.token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("link", { name: "Flows" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/flows");
});

spec("a theme that was chosen stays chosen", async ({ open }) => {
  const page = await open("/");
  await page.getByLabel("Theme").selectOption("dark");
  await page.reload();
  await page.locator("html[data-theme=dark]").waitFor();
  assert.equal(await page.getByLabel("Theme").inputValue(), "dark");
});

spec("g and a letter go to a page", async ({ open }) => {
  const page = await open("/");
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await page.locator("nav a[aria-current=page]", { hasText: "Workers" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/workers");
});

spec("a service on another port is sent the cookie, and can do nothing with it", async ({ reeve, open }) => {
  const page = await open("/");
  const seen = [];
  const service = createServer((request, answer) => {
    seen.push(request.headers.cookie ?? "");
    answer.end("<!doctype html><title>a service of a job</title>");
  });
  await new Promise((done) => service.listen(0, "127.0.0.1", done));
  try {
    const other = await page.context().newPage();
    await other.goto(`http://127.0.0.1:${service.address().port}/`);
    const cookie = seen.find((text) => text.includes("reeve_session"));
    assert.ok(cookie, "browsers do not look at ports: this is why the cookie is not enough");
    assert.equal(await other.evaluate(() => localStorage.length), 0, "storage is of the origin");
    for (const path of ["/api/v1/session", "/api/v1/flows", "/api/v1/tokens", "/metrics"])
      assert.equal((await fetch(reeve.url + path, { headers: { cookie } })).status, 401, path);
  } finally {
    service.closeAllConnections();
    service.close();
  }
});

spec("a session is there after a reload and in a new tab, until someone logs out", async ({ open }) => {
  const page = await open("/flows");
  assert.equal(new URL(page.url()).hash, "", "its other half does not stay in the address");
  await page.reload();
  await page.getByRole("status").filter({ hasText: "live" }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(new URL("/workers", page.url()).href);
  await tab.getByRole("status").filter({ hasText: "live" }).waitFor();
  await tab.getByRole("button", { name: "Log out" }).click();
  await tab.getByLabel("Token").waitFor();
  assert.equal(await tab.evaluate(() => localStorage.getItem("reeve.csrf")), null);
  page.complaints.allowed.push(/status of 401/, /WebSocket connection to/);
  await page.reload();
  await page.getByLabel("Token").waitFor();
});

spec("everything is searched from any page, by / or Ctrl K", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "needle-in-hay", jobs: { "needle-job": { noop: true } } });
  await reeve.ended(flow);
  await reeve.cli("kv", "set", "needle/key", "1");
  const page = await open("/workers");
  await page.locator("main h1").waitFor();
  await page.keyboard.press("/");
  const field = page.getByLabel("Search everything");
  const found = page.getByRole("listbox", { name: "Found" });
  await field.fill("needle");
  await found.getByRole("option").filter({ hasText: "needle-in-hay" }).waitFor();
  await found.getByRole("option").filter({ hasText: "needle/key" }).waitFor();
  await field.fill("needle-job");
  await found.getByRole("option").filter({ hasText: `${flow}/needle-job` }).click();
  await page.waitForURL(new RegExp(`/jobs/${flow}/needle-job`));
  await page.keyboard.press("Control+k");
  await field.fill(flow);
  await found.getByRole("option").first().waitFor();
  await field.press("Enter");
  await page.waitForURL(new RegExp(`/flows/${flow}`));
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("search everything").waitFor();
});

spec("failures and open approvals are notified, once someone has asked for it", async ({ reeve, open }) => {
  const page = await open("/workers");
  await page.context().grantPermissions(["notifications"]);
  await page.evaluate(() => {
    window.told = [];
    window.Notification = class {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title, { body }) {
        window.told.push(`${title}: ${body}`);
      }
    };
  });
  const toggle = page.getByRole("button", { name: "Notify me" });
  assert.equal(await toggle.getAttribute("aria-pressed"), "false");
  await reeve.ended(await reeve.submit({ name: "unheard", jobs: { a: { run: "exit 1", retries: 0 } } }));
  await toggle.click();
  await page.locator(".notify[aria-pressed=true]").waitFor();
  const flow = await reeve.submit({ name: "heard", jobs: { a: { run: "exit 1", retries: 0 } } });
  const gate = await reeve.submit({ name: "asks", jobs: { ok: { gate: { message: "Tell me?" } } } });
  await page.waitForFunction((want) => want.every((text) => window.told.includes(text)), [`Flow failed: heard ${flow}`, `Waits for a decision: ${gate}/ok: Tell me?`]);
  assert.equal(await page.evaluate(() => window.told.filter((text) => text.includes("unheard")).length), 0);
  await reeve.cli("cancel", gate);
});

spec("on a phone the pages are behind a menu, and flows tell when they were submitted", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "pocket", jobs: { a: { noop: true } } });
  await reeve.ended(flow);
  const page = await open("/workers", { width: 390, height: 844 });
  const menu = page.getByRole("button", { name: "Workers" });
  await menu.waitFor();
  assert.equal(await page.getByRole("link", { name: "Schedules" }).count(), 0);
  await menu.click();
  await page.getByRole("link", { name: "Flows", exact: true }).click();
  const row = page.locator(".flow-row", { hasText: flow });
  await row.locator(".flow-when").getByText("ago").waitFor();
  await row.getByRole("link").click();
  const stage = await page.locator(".graph-canvas[data-laid-out]").boundingBox();
  assert.ok(stage.height < 420, `a graph of one job needs no ${stage.height} px`);
});
