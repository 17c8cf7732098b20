// The login of a browser by a real identity provider, without scripts; and all the ways in which it can go wrong.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Person } from "./person.mjs";
import { IdentityProvider } from "./provider.mjs";
import { Server, freePort, rules } from "./server.mjs";

let provider;
let server;
let home;

const SECRET = "a secret with : and %";

before(async () => {
  const port = await freePort();
  home = `127.0.0.1:${port}`;
  const back = (name) => [`http://${home}/login/callback/${name}`];
  provider = await IdentityProvider.start({
    clients: [
      { client_id: "console", token_endpoint_auth_method: "none", redirect_uris: back("corp"), grant_types: ["authorization_code"], response_types: ["code"] },
      { client_id: "confidential", client_secret: SECRET, redirect_uris: back("safe"), grant_types: ["authorization_code"], response_types: ["code"] },
    ],
  });
  server = await Server.start({
    flags: ["--listen", home, "--login-failures", "1000"],
    files: { secret: `${SECRET}\n` },
    issuers: [
      { name: "corp", issuer: provider.url, audience: "reeve", client_id: "console", title: "Example <Corp> & Co", map: rules },
    ],
  });
  server.url = `http://${home}`;
  server.port = port;
  await server.says("issuer corp: 2 keys");
});
after(async () => {
  await server?.remove();
  await provider?.stop();
});

/** Logs in; the answer is the page where that ended. */
const logIn = (person, options = {}, name = "corp") => person.walk(`${server.url}/login/start/${name}`, home, options);

/** Who this browser is, by its cookie and the csrf of its login. */
async function session(person, csrf) {
  const answer = await person.go(`${server.url}/api/v1/session`, { headers: csrf === undefined ? {} : { "reeve-csrf": csrf } });
  return { status: answer.status, ...JSON.parse(answer.text) };
}

describe("the login page", () => {
  test("says in plain words where to go, without scripts", async () => {
    const page = await new Person().go(`${server.url}/login`);
    assert.equal(page.status, 200);
    assert.match(page.text, /Choose where you have an account/);
    assert.match(page.text, /<a href="\/login\/start\/corp">Log in with Example &#60;Corp&#62; &#38; Co<\/a>/);
    assert.doesNotMatch(page.text, /<script|Corp> &/);
    assert.match(page.headers.get("content-security-policy"), /default-src 'none'; frame-ancestors 'none'/);
    assert.equal(page.headers.get("cache-control"), "no-store");
  });

  test("is a list for programs, too", async () => {
    const { issuers } = JSON.parse((await new Person().go(`${server.url}/login/issuers`)).text);
    assert.equal(issuers.length, 1);
    assert.equal(issuers[0].issuer, provider.url);
    assert.equal(issuers[0].client_id, "console");
    assert.equal(issuers[0].browser, true);
  });

  test("of a server without providers is the console's own", async () => {
    const plain = await Server.start({ issuers: [{ name: "api", issuer: provider.url, audience: "reeve", map: rules }] });
    const page = await new Person().go(`${plain.url}/login`, { headers: { "accept-encoding": "gzip" } });
    assert.doesNotMatch(page.text, /Choose where/);
    assert.equal((await new Person().go(`${plain.url}/login/start/api`)).text.includes("Log in again"), false);
    await plain.remove();
  });
});

describe("a login", () => {
  test("is a session with the account's name and rights, and ends at the logout", async () => {
    const person = new Person();
    const end = await logIn(person);
    assert.equal(end.landed.pathname, "/");
    const csrf = end.landed.hash.replace("#csrf=", "");
    const cookie = end.headers.getSetCookie().find((line) => line.startsWith("reeve_session"));
    assert.match(cookie, /HttpOnly; SameSite=Strict/);
    const who = await session(person, csrf);
    assert.equal(who.name, "ada@corp");
    assert.deepEqual(who.roles, ["admin"]);
    assert.ok(Math.abs(who.expires_ms - Date.now() - 8 * 3600 * 1000) < 120_000);
    assert.equal((await session(person)).status, 401); /* half of it is none */
    const jar = new Map(person.jars.get(home));
    assert.equal((await person.go(`${server.url}/api/v1/session`, { method: "DELETE", headers: { "reeve-csrf": csrf } })).status, 204);
    person.jars.set(home, jar); /* someone has kept the cookie */
    assert.equal((await session(person, csrf)).status, 401);
  });

  test("asks with PKCE, a state and a nonce, and tells none of them twice the same", async () => {
    const asked = [];
    for (let i = 0; i < 2; i++) {
      const answer = await new Person().go(`${server.url}/login/start/corp`);
      assert.equal(answer.status, 303);
      assert.match(answer.headers.getSetCookie()[0], /^reeve_login_\d+=rvl_[^;]+; Path=\/login\/callback\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
      asked.push(Object.fromEntries(new URL(answer.location).searchParams));
    }
    for (const one of asked) {
      assert.equal(one.response_type, "code");
      assert.equal(one.code_challenge_method, "S256");
      assert.match(one.code_challenge, /^[\w-]{43}$/);
      assert.match(one.state, /^[0-9a-f]{64}$/);
      assert.match(one.nonce, /^[0-9a-f]{64}$/);
      assert.equal(one.redirect_uri, `${server.url}/login/callback/corp`);
    }
    for (const name of ["state", "nonce", "code_challenge"]) assert.notEqual(asked[0][name], asked[1][name]);
  });

  test("of a tenant's member sees that tenant", async () => {
    const person = new Person();
    const end = await logIn(person, { account: "bob" });
    const who = await session(person, end.landed.hash.replace("#csrf=", ""));
    assert.equal(who.name, "bob@corp");
    assert.equal(who.tenant, "red");
  });

  test("of someone without access says so, and which claim was looked for", async () => {
    const page = await logIn(new Person(), { account: "eve" });
    assert.equal(page.status, 403);
    assert.match(page.text, /knows you, but your account has no access to this server/);
    assert.match(page.text, /`groups` \(does not fit\)/);
    assert.equal(page.headers.getSetCookie().length, 0);
  });

  test("that is refused at the provider says so", async () => {
    const page = await logIn(new Person(), { accept: false });
    assert.equal(page.status, 403);
    assert.match(page.text, /did not let you in: you, or its administrator, refused/);
  });

  test("with a client that has a secret works, and its secret is in no page", async () => {
    const port = await freePort();
    const own = await IdentityProvider.start({
      clients: [{ client_id: "confidential", client_secret: SECRET, redirect_uris: [`http://127.0.0.1:${port}/login/callback/safe`], grant_types: ["authorization_code"], response_types: ["code"] }],
    });
    const mine = await Server.start({
      flags: ["--listen", `127.0.0.1:${port}`],
      files: { secret: `${SECRET}\n` },
      issuers: [{ name: "safe", issuer: own.url, client_id: "confidential", client_secret_file: "secret", map: rules }],
    });
    mine.url = `http://127.0.0.1:${port}`;
    await mine.says("issuer safe: 2 keys");
    const person = new Person();
    const end = await person.walk(`${mine.url}/login/start/safe`, `127.0.0.1:${port}`);
    assert.match(end.landed?.hash ?? end.text, /#csrf=/);
    const list = (await person.go(`${mine.url}/login/issuers`)).text;
    assert.doesNotMatch(list, /secret/);
    assert.equal(JSON.parse(list).issuers[0].client_id, undefined); /* no program may pretend to be it */
    await mine.remove();
    await own.stop();
  });
});

/** An answer of the provider on its way back, and the browser that waits for it. */
async function underway(account = "ada") {
  const person = new Person();
  const start = await person.go(`${server.url}/login/start/corp`);
  const at = new Person();
  at.jars = person.jars;
  let page = await at.go(start.location);
  for (;;) {
    const next = page.location === null ? null : new URL(page.location, page.url);
    if (next !== null && next.host === home) return { person, callback: next };
    if (next !== null) {
      page = await at.go(next.href);
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(page.text)[1];
    const action = /action="([^"]+)"/.exec(page.text)[1];
    page = await at.go(new URL(action, page.url).href, { method: "POST", form: { prompt, login: account, password: "x" } });
  }
}

describe("an attack on a login", () => {
  const refused = (page, words) => {
    assert.ok([400, 403].includes(page.status), `${page.status}: ${page.text}`);
    assert.match(page.text, words);
    assert.equal(page.headers.getSetCookie().length, 0);
  };

  test("by another browser's answer is refused", async () => {
    const { callback } = await underway();
    refused(await new Person().go(callback.href), /not begun in this browser/);
    const other = await underway("bob");
    refused(await other.person.go(callback.href), /not begun in this browser/);
  });

  test("by an answer that is used twice is refused by the provider", async () => {
    const { person, callback } = await underway();
    assert.equal((await person.go(callback.href)).status, 303);
    refused(await person.go(callback.href), /does not accept the login: invalid_grant/);
  });

  test("by a changed state, code or issuer is refused", async () => {
    const { person, callback } = await underway();
    for (const [name, value, words] of [
      ["state", "0".repeat(64), /state/],
      ["state", "", /state/],
      ["iss", "https://evil.example", /another provider/],
      ["code", "x", /invalid_grant/],
    ]) {
      const bad = new URL(callback);
      bad.searchParams.set(name, value);
      refused(await person.go(bad.href), words);
    }
    const twice = `${callback.href}&code=x`;
    refused(await person.go(twice), /came twice/);
  });

  test("by text in an answer stays text", async () => {
    const { person, callback } = await underway();
    const bad = new URL(callback);
    bad.searchParams.delete("code");
    bad.searchParams.set("error", "server_error");
    bad.searchParams.set("error_description", "<script>alert(1)</script>\u202e");
    const page = await person.go(bad.href);
    refused(page, /&#60;script&#62;alert\(1\)/);
    assert.doesNotMatch(page.text, /<script|\u202e/);
  });

  test("by a cookie of one's own making is refused", async () => {
    const { person, callback } = await underway();
    const jar = person.jars.get(home);
    const [name, value] = [...jar].find(([key]) => key.startsWith("reeve_login"));
    for (const bad of ["", "rvl_", value.slice(0, -1), `${value}0`, value.replace("corp", "safe"), "x".repeat(4000)]) {
      jar.set(name, bad);
      refused(await person.go(callback.href), /not begun in this browser/);
    }
  });

  test("is no way to another page", async () => {
    for (const path of ["/login/start/nobody", "/login/start/../corp", "/login/callback/nobody?code=1", "/login/start/corp%2f", "/login/x"]) {
      const page = await new Person().go(server.url + path);
      assert.equal(page.location, null, path);
      assert.ok([400, 404].includes(page.status), `${path}: ${page.status}`);
    }
    const answer = await fetch(`${server.url}/login/start/corp`, { headers: { host: "evil.example" }, redirect: "manual" });
    assert.ok([303, 421].includes(answer.status)); /* node sends its own host */
  });

  test("by trying again and again has to wait, in plain words", async () => {
    const mine = await Server.start({ flags: ["--login-failures", "3"], issuers: [{ name: "corp", issuer: provider.url, client_id: "console", map: rules }] });
    const page = async () => new Person().go(`${mine.url}/login/callback/corp?code=1&state=2`);
    for (let i = 0; i < 3; i++) assert.equal((await page()).status, 403);
    const last = await page();
    assert.equal(last.status, 429);
    assert.match(last.text, /Too many logins from your address have failed/);
    await mine.remove();
  });

  test("from a name that is not the public one leads to the right address", async () => {
    const page = await fetch(`http://localhost:${server.port}/login/start/corp`, { redirect: "manual" });
    assert.equal(page.status, 400);
    assert.match(await page.text(), new RegExp(`open http://${home}/login`));
  });
});

describe("a server", () => {
  test("that is started again asks for a new login, and the provider asks for nothing", async () => {
    const person = new Person();
    const end = await logIn(person);
    await server.kill();
    await server.begin();
    await server.says("issuer corp: 2 keys", server.said.lastIndexOf(" recovered "));
    const who = await session(person, end.landed.hash.replace("#csrf=", ""));
    assert.equal(who.status, 401);
    assert.match(who.message, /log in again/);
    const posts = person.visited.filter((line) => line.startsWith("POST")).length;
    const again = await logIn(person);
    assert.equal(again.landed.pathname, "/");
    assert.equal(person.visited.filter((line) => line.startsWith("POST")).length, posts);
  });

  test("waits for a slow provider longer than for a hello", async () => {
    await server.stop();
    server.flags = ["--listen", home, "--hello-ms", "300", "--login-failures", "1000"];
    await server.begin();
    await server.says("issuer corp: 2 keys", server.said.lastIndexOf(" recovered "));
    const { person, callback } = await underway();
    let go;
    provider.hold = new Promise((done) => (go = done));
    const page = person.go(callback.href);
    const timer = setTimeout(go, 900);
    const end = await page;
    clearTimeout(timer);
    provider.hold = null;
    assert.equal(end.status, 303, end.text);
  });

  test("whose provider is down says so in the page", async () => {
    const { person, callback } = await underway();
    await provider.stop();
    const page = await person.go(callback.href);
    assert.equal(page.status, 503);
    assert.match(page.text, /The login with Example .* failed: it cannot be reached/);
    await provider.listen(provider.port);
  });

  test("that cannot trust the clocks says by how much they differ", async () => {
    provider.answer = (request, response) => {
      if (!request.url.startsWith("/token")) return false;
      response.sendDate = false;
      response.setHeader("date", new Date(Date.now() + 3_600_000).toUTCString());
      response.setHeader("content-type", "application/json");
      void provider
        .token({ aud: "console", nonce: provider.nonce, exp: Math.floor(Date.now() / 1000) + 3900, iat: Math.floor(Date.now() / 1000) + 3600 })
        .then((id_token) => response.end(JSON.stringify({ id_token, token_type: "Bearer", access_token: "x" })));
      return true;
    };
    const person = new Person();
    const start = await person.go(`${server.url}/login/start/corp`);
    const asked = new URL(start.location).searchParams;
    provider.nonce = asked.get("nonce");
    const page = await person.go(`${server.url}/login/callback/corp?code=x&state=${asked.get("state")}&iss=${encodeURIComponent(provider.url)}`);
    provider.answer = null;
    assert.equal(page.status, 403);
    assert.match(page.text, /valid only in 3[56]\d\d s/);
    assert.match(page.text, /The clock of the provider is 3[56]\d\d s ahead of that of this server/);
  });
});
