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
