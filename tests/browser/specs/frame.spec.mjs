import assert from "node:assert/strict";

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
