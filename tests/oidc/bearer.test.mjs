// Bearer tokens of an identity provider, on every way into the server; and a provider that is down, slow, wrong, or has
// new keys.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { connect } from "node:net";

import { IdentityProvider, newKey } from "./provider.mjs";
import { Server, rules } from "./server.mjs";

let provider;
let server;
const issuer = (more = {}) => ({ name: "corp", issuer: provider.url, audience: "reeve", client_id: "console", map: rules, ...more });

before(async () => {
  provider = await IdentityProvider.start();
  server = await Server.start({ issuers: [issuer()] });
  assert.equal((await server.whoSoon(await provider.token())).status, 200);
});
after(async () => {
  await server?.remove();
  await provider?.stop();
});

describe("bearer", () => {
  test("claims become account, roles and tenant", async () => {
    const ada = await server.who(await provider.token());
    assert.equal(ada.name, "ada@corp");
    assert.deepEqual(ada.roles, ["admin"]);
    assert.equal(ada.tenant, undefined);
    const bob = await server.who(await provider.token({}, { sub: "bob" }));
    assert.equal(bob.name, "bob@corp");
    assert.equal(bob.tenant, "red");
    assert.deepEqual(bob.roles, ["submitter", "viewer"]);
  });

  test("whom no rule fits is told which claim was looked for", async () => {
    const eve = await server.who(await provider.token({}, { sub: "eve" }));
    assert.equal(eve.status, 403);
    assert.match(eve.message, /no rule of issuer corp fits this account; looked for `groups` \(does not fit\)/);
  });

  test("the same token is good by HTTP, native v2, MCP and RESP", async () => {
    const token = await provider.token();
    const run = await server.cli(["ls", "--json"], { env: { REEVE_TOKEN: token } });
    assert.equal(run.code, 0, run.err);
    const init = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "t", version: "1" } } };
    const answer = await fetch(`${server.url}/mcp`, {
      method: "POST",
      body: JSON.stringify(init),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
    });
    assert.equal(answer.status, 200);
    const said = await new Promise((done, failed) => {
      const socket = connect(server.port, "127.0.0.1", () => socket.write(`*2\r\n$4\r\nAUTH\r\n$${token.length}\r\n${token}\r\n*1\r\n$4\r\nPING\r\n`));
      let text = "";
      socket.on("error", failed).on("data", (chunk) => {
        text += chunk;
        if (!text.includes("PONG") && !text.startsWith("-")) return;
        socket.destroy();
        done(text);
      });
    });
    assert.match(said, /^\+OK\r\n\+PONG/);
  });

  test("who acts is in the audit, with the issuer behind the name", async () => {
    const token = await provider.token({}, { sub: "bob" });
    const run = await server.cli(["run", "-d", "true"], { env: { REEVE_TOKEN: token } });
    assert.equal(run.code, 0, run.err);
    const audit = await server.cli(["audit", "--json"], { env: { REEVE_TOKEN: server.admin } });
    assert.match(audit.out, /bob@corp/);
  });

  test("a tenant is a wall for these tokens, too", async () => {
    const answer = await server.get("/flows", await provider.token({}, { sub: "bob" }), { "reeve-tenant": "blue" });
    assert.equal(answer.status, 403);
  });

  test("a token of this server opens as before, and a token of a provider opens no session by itself", async () => {
    assert.equal((await server.who(server.admin)).name, "admin");
    const answer = await fetch(`${server.url}/api/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: await provider.token() }),
    });
    assert.equal(answer.status, 401);
    assert.match((await answer.json()).message, /log in at \/login/);
  });

  test("a connection ends with its token", async () => {
    const now = Math.floor(Date.now() / 1000);
    const token = await provider.token({ exp: now - 58 }); /* the margin leaves two seconds */
    assert.equal((await server.who(token)).status, 200);
    for (let left = 200; (await server.who(token)).status === 200 && left > 0; left--) await new Promise((done) => setTimeout(done, 25));
    assert.equal((await server.who(token)).status, 401);
  });

  test("what an attacker makes is refused by the real server, too", async () => {
    const stranger = await newKey("RS256", provider.keys[0].kid);
    const now = Math.floor(Date.now() / 1000);
    const parts = (await provider.token()).split(".");
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${parts[1]}.`;
    const bad = [
      none,
      `${parts[0]}.${parts[1]}.`,
      `${parts[0]}.${parts[1]}.${"A".repeat(342)}`,
      await provider.token({}, { key: stranger }),
      await provider.token({ aud: "billing" }),
      await provider.token({ aud: undefined }),
      await provider.token({ iss: "https://evil.example" }),
      await provider.token({ exp: now - 100 }),
      await provider.token({ exp: undefined }),
      await provider.token({ nbf: now + 100 }),
      await provider.token({ sub: undefined }),
      await provider.token({ cnf: { jkt: "x" } }),
      await provider.token({}, { header: { typ: "logout+jwt" } }),
      await provider.token({ preferred_username: "uid:0" }),
      await provider.token({ preferred_username: "a b" }),
      `${"eyJ".padEnd(9000, "A")}.AAAA.AAAA`,
    ];
    for (const [i, token] of bad.entries()) {
      const who = await server.who(token);
      assert.ok([401, 403].includes(who.status), `${i}: ${who.status} ${who.message}`);
    }
  });

  test("a hundred tokens with made-up keys make one fetch", async () => {
    const before_ = provider.asked.length;
    for (let i = 0; i < 100; i++) {
      const key = { ...provider.keys[0], kid: `made-up-${i}` };
      assert.ok([401, 503].includes((await server.who(await provider.token({}, { key }))).status));
    }
    assert.ok(provider.asked.length - before_ <= 2, `${provider.asked.length - before_} requests`);
  });
});

/** A provider and a server of their own. */
async function pair(use, { more = {}, prepare = () => undefined } = {}) {
  const own = await IdentityProvider.start();
  let mine;
  try {
    await prepare(own);
    mine = await Server.start({ issuers: [{ name: "corp", issuer: own.url, audience: "reeve", map: rules, ...more }] });
    await use(own, mine);
  } finally {
    await mine?.remove();
    await own.stop().catch(() => undefined);
  }
}

describe("a provider", () => {
  test("that is down locks nobody out, and a new server says that it is down", () =>
    pair(async (own, mine) => {
      const token = await own.token();
      assert.equal((await mine.whoSoon(token)).status, 200);
      await own.stop();
      assert.equal((await mine.who(await own.token({ jti: "another" }))).status, 200);
      await mine.stop();
      await mine.begin();
      await mine.says("issuer corp: the discovery document");
      const who = await mine.who(token);
      assert.equal(who.status, 503);
      assert.match(who.message, /the keys of issuer corp are not known now/);
      await own.listen(own.port);
      assert.equal((await mine.whoSoon(token)).status, 200);
    }));

  test("that changes its keys is asked when a token names a new one", () =>
    pair(async (own, mine) => {
      const old = await own.token();
      assert.equal((await mine.whoSoon(old)).status, 200);
      await own.restart({ keys: [await newKey("ES256")] });
      const fresh = await own.token();
      assert.equal((await mine.who(fresh)).status, 503);
      assert.equal((await mine.whoSoon(fresh)).status, 200);
      assert.notEqual((await mine.who(old)).status, 200); /* its key is gone, and so is what was found of it */
    }));

  test("that does not answer keeps nobody waiting", () =>
    pair(
      async (own, mine) => {
        const began = Date.now();
        const who = await mine.who(await own.token());
        assert.equal(who.status, 503);
        assert.ok(Date.now() - began < 2000);
        assert.equal((await mine.who(mine.admin)).status, 200);
      },
      { prepare: (own) => void (own.hold = new Promise(() => undefined)) },
    ));

  for (const [name, answer, words] of [
    ["sends ten megabytes", (_, response) => response.end("x".repeat(10 << 20)), /longer than 262144 bytes/],
    ["leads elsewhere", (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), /leads elsewhere/],
    ["says that it is another", (_, response) => response.end(JSON.stringify({ issuer: "https://evil.example", jwks_uri: "https://evil.example/keys" })), /it says that it is issuer/],
    ["names keys by an unsafe address", (request, response) => response.end(JSON.stringify({ issuer: `http://${request.headers.host}`, jwks_uri: "http://evil.example/keys" })), /`jwks_uri` is no https URL/],
    ["names keys at a private address", (request, response) => response.end(JSON.stringify({ issuer: `http://${request.headers.host}`, jwks_uri: "https://10.0.0.1/keys" })), /must be a public one/],
    ["answers with an error", (_, response) => response.writeHead(500).end("oh"), /status 500/],
    ["answers with nonsense", (_, response) => response.end("<html>"), /discovery document/],
    ["has heads without end", (_, response) => response.writeHead(200, Object.fromEntries(Array.from({ length: 1500 }, (__, i) => [`x-${i}`, "y".repeat(60)]))).end("{}"), /head of the answer|Too large|headers/i],
  ])
    test(`that ${name} is not believed`, () =>
      pair(
        async (own, mine) => {
          await mine.says(words);
          assert.equal((await mine.who(await own.token())).status, 503);
          assert.equal((await mine.who(mine.admin)).status, 200);
        },
        { prepare: (own) => void (own.answer = (request, response) => (answer(request, response), true)) },
      ));

  test("beside another has users of its own; a document that is read again counts at once", () =>
    pair(async (own, mine) => {
      const entry = { name: "corp", issuer: own.url, audience: "reeve", map: rules };
      const second = { ...entry, name: "lab", issuer: provider.url, map: [{ when: { sub: "*" }, roles: ["viewer"], tenant: "lab" }] };
      const token = await own.token();
      assert.equal((await mine.whoSoon(token)).status, 200);
      await mine.reload([entry, second]);
      assert.equal((await mine.whoSoon(await provider.token())).name, "ada@lab");
      assert.equal((await mine.whoSoon(token)).name, "ada@corp");
      await mine.reload([{ ...entry, map: [{ when: { groups: "nobody" }, roles: ["viewer"], tenant: "x" }] }]);
      assert.equal((await mine.whoSoon(token)).status, 403);
      assert.equal((await mine.whoSoon(await provider.token())).status, 401);
      await mine.reload([{ ...entry, nmae: "x" }]); /* a mistake: the document before stays */
      assert.match(mine.said, /there is no key `nmae`; did you mean `name`\?/);
      assert.equal((await mine.whoSoon(token)).status, 403);
    }));

  test("whose document is wrong is found by the doctor", () =>
    pair(async (own, mine) => {
      const good = await mine.cli(["doctor", "--data", mine.data], { env: { REEVE_OIDC: mine.document } });
      assert.match(good.out, /oidc +\S*issuers.yaml has 1 identity provider\b/);
      await mine.write([{ name: "corp", issuer: own.url, audience: "x", map: [] }]);
      const bad = await mine.cli(["doctor", "--data", mine.data], { env: { REEVE_OIDC: mine.document } });
      assert.match(bad.out, /issuers.yaml: issuer corp: map: expected a list of 1 to 256 rules/);
    }));

  test("whose document is wrong keeps the server from starting", async () => {
    await assert.rejects(Server.start({ issuers: [{ name: "corp", issuer: "http://example.org", audience: "x", map: rules }] }), /begins with https/);
    await assert.rejects(Server.start({ issuers: [{ ...issuer(), client_secret_file: "not-there" }] }), /not-there: No such file/);
  });
});
