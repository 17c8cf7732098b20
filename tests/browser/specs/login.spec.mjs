import assert from "node:assert/strict";

import { IdentityProvider } from "../../oidc/provider.mjs";
import { Server, freePort, rules } from "../../oidc/server.mjs";
import { spec } from "../lib/spec.mjs";

/** A server whose users are those of a real identity provider. */
async function withProvider(use) {
  const port = await freePort();
  const client = { client_id: "console", token_endpoint_auth_method: "none", grant_types: ["authorization_code"], response_types: ["code"] };
  const provider = await IdentityProvider.start({ clients: [{ ...client, redirect_uris: [`http://127.0.0.1:${port}/login/callback/corp`] }] });
  const server = await Server.start({ flags: ["--listen", `127.0.0.1:${port}`], issuers: [{ name: "corp", issuer: provider.url, client_id: "console", title: "Example Corp", map: rules }] });
  server.url = `http://127.0.0.1:${port}`;
  server.port = port;
  try {
    await server.says("issuer corp: 2 keys");
    await use(server);
  } finally {
    await server.remove();
    await provider.stop();
  }
}

async function signIn(page, account) {
  await page.locator("input[name=login]").fill(account);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue" }).click();
}

const allow = [/status of 401/, /fonts\.googleapis/, /127\.0\.0\.1:\d+\/(interaction|auth|favicon)/, /favicon/];

spec("a person logs in by an identity provider, and out again", async ({ open }) => {
  await withProvider(async (reeve) => {
    const page = await open("/flows", { reeve, loggedIn: false, allow });
    await page.getByRole("link", { name: "Log in with Example Corp" }).click();
    await signIn(page, "ada");
    await page.getByRole("link", { name: "Flows" }).first().waitFor();
    assert.equal(new URL(page.url()).host, `127.0.0.1:${reeve.port}`);
    assert.equal(new URL(page.url()).hash, "", "the second secret does not stay in the address");
    await page.getByText("ada@corp").first().waitFor();
    await page.reload();
    await page.getByText("ada@corp").first().waitFor();
    await page.context().close();
  });
});

spec("a person without access is told why, on a page without scripts", async ({ open }) => {
  await withProvider(async (reeve) => {
    const page = await open("/login", { reeve, loggedIn: false, allow: [...allow, /status of 403/] });
    assert.equal(await page.locator("script").count(), 0);
    await page.getByRole("link", { name: "Log in with Example Corp" }).click();
    await signIn(page, "eve");
    await page.getByRole("alert").filter({ hasText: "your account has no access to this server" }).waitFor();
    await page.getByRole("link", { name: "Log in again" }).click();
    await page.getByRole("heading", { name: "Log in to Reeve" }).waitFor();
    await page.context().close();
  });
});
