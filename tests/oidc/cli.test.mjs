// `reeve login`: by a browser of this machine and by a code; the token in a context, renewed, and forgotten.
import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { Person } from "./person.mjs";
import { IdentityProvider } from "./provider.mjs";
import { Server, rules } from "./server.mjs";

let provider;
let server;

before(async () => {
  provider = await IdentityProvider.start({
    clients: [
      {
        client_id: "cli",
        application_type: "native",
        token_endpoint_auth_method: "none",
        redirect_uris: ["http://127.0.0.1/callback"],
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        response_types: ["code"],
      },
    ],
  });
  server = await Server.start({ issuers: [{ name: "corp", issuer: provider.url, audience: "reeve", client_id: "cli", map: rules }] });
  await server.says("issuer corp: 2 keys");
});
after(async () => {
  await server?.remove();
  await provider?.stop();
});

const home = () => `127.0.0.1:${server.port}`;
const contexts = async () => JSON.parse(await readFile(join(server.data, ".config/reeve/contexts.json"), "utf8"));
/** A verb of a person who has only contexts. */
const run = async (...args) => {
  const it = server.start(args, { env: { BROWSER: "true" } });
  return { code: await it.ended, out: it.out, err: it.err };
};

/** Logs in by the browser; `visit` does what the person does with the address. */
async function logIn(name, visit, ...flags) {
  const it = server.start(["login", name, ...flags], { env: { BROWSER: "true" } });
  const [, url] = await it.says(/(http:\/\/\S+)\n/);
  await visit(new URL(url));
  return { code: await it.ended, out: it.out, err: it.err };
}

const asPerson = (account, options = {}) => async (url) => {
  const back = new URL(url.searchParams.get("redirect_uri"));
  const page = await new Person().walk(url.href, back.host, { account, ...options });
  assert.equal(page.status, 200);
};

describe("reeve login", () => {
  test("by a browser keeps a token that works, for its owner alone", async () => {
    const end = await logIn("work", asPerson("ada"), "--server", home());
    assert.equal(end.code, 0, end.err);
    assert.match(end.out, /^logged in as ada@corp, context work\n$/);
    const who = await run("whoami");
    assert.equal(who.code, 0, who.err);
    assert.equal(who.out, "ada@corp\nroles: admin\ntenant: all\n");
    assert.equal(JSON.parse((await run("whoami", "--json")).out).name, "ada@corp");
    assert.equal((await run("ls")).code, 0);
    assert.equal((await stat(join(server.data, ".config/reeve/contexts.json"))).mode & 0o777, 0o600);
    const { token } = (await contexts()).contexts[0];
    const shown = await run("context", "ls", "--json");
    assert.ok(!shown.out.includes(token) && !end.out.includes(token) && !end.err.includes(token));
  });

  test("by a browser asks with PKCE and a state, and takes no other answer", async () => {
    const end = await logIn("work", async (url) => {
      const { searchParams: asked } = url;
      assert.equal(asked.get("code_challenge_method"), "S256");
      assert.match(asked.get("state"), /^[0-9a-f]{64}$/);
      const back = asked.get("redirect_uri");
      for (const bad of ["?code=x", "?code=x&state=0", `?state=${asked.get("state")}`, "", "/../x"]) {
        const answer = await fetch(back + bad);
        assert.match(await answer.text(), /not the login/);
      }
      assert.match(await (await fetch(new URL("/favicon.ico", back))).text(), /not the login/);
      await asPerson("bob")(url);
    });
    assert.equal(end.code, 0, end.err);
    assert.match((await run("whoami")).out, /^bob@corp\nroles: submitter, viewer\ntenant: red\n$/);
  });

  test("of someone without access, or who says no, keeps nothing", async () => {
    const kept = JSON.stringify(await contexts());
    const eve = await logIn("work", asPerson("eve"));
    assert.equal(eve.code, 4);
    assert.match(eve.err, /no rule of issuer corp fits this account/);
    const no = await logIn("work", asPerson("ada", { accept: false }));
    assert.equal(no.code, 4);
    assert.match(no.err, /the provider refused the login: access_denied/);
    assert.equal(JSON.stringify(await contexts()), kept);
  });

  test("by a code needs no browser here", async () => {
    const it = server.start(["login", "elsewhere", "--server", home(), "--device"], {});
    const [, url, code] = await it.says(/open (\S+) and enter (\S+)\n/);
    const person = new Person();
    let page = await person.go(url);
    const fields = (text) => Object.fromEntries([...text.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)].map(([, name, value]) => [name, value]));
    page = await person.go(new URL(/action="([^"]+)"/.exec(page.text)[1], page.url).href, { method: "POST", form: { ...fields(page.text), user_code: code } });
    page = await person.go(new URL(/action="([^"]+)"/.exec(page.text)[1], page.url).href, { method: "POST", form: { ...fields(page.text), user_code: code, confirm: "yes" } });
    for (let left = 20; left > 0 && !/Sign-in Success|success/i.test(page.text); left--) {
      if (page.location !== null) page = await person.go(new URL(page.location, page.url).href);
      else {
        const prompt = /name="prompt" value="(\w+)"/.exec(page.text)[1];
        page = await person.go(new URL(/action="([^"]+)"/.exec(page.text)[1], page.url).href, { method: "POST", form: { prompt, login: "ada", password: "x" } });
      }
    }
    assert.equal(await it.ended, 0, it.err);
    assert.match(it.out, /logged in as ada@corp, context elsewhere; `reeve context use` puts it to use/);
    assert.match((await run("whoami", "--context", "elsewhere")).out, /^ada@corp\n/);
  });

  test("is renewed before it ends, and says so when that is over", async () => {
    provider.seconds = 30; /* less than the minute before its end in which a token is renewed */
    assert.equal((await logIn("work", asPerson("ada"))).code, 0);
    const first = (await contexts()).contexts.find((one) => one.name === "work");
    assert.ok(first.refresh.length > 0);
    assert.match((await run("whoami")).out, /^ada@corp\n/);
    const second = (await contexts()).contexts.find((one) => one.name === "work");
    assert.notEqual(second.token, first.token);
    provider.seconds = 300;
    provider.answer = (request, response) => {
      if (!request.url.startsWith("/token")) return false;
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
      return true;
    };
    const late = await run("whoami");
    assert.equal(late.code, 4);
    assert.match(late.err, /the login of context work is over \(invalid_grant\): run `reeve login work`/);
    provider.answer = null;
    await provider.stop();
    const down = await run("whoami"); /* what there is may still do */
    assert.equal(down.code, 0, down.err);
    await provider.listen(provider.port);
  });

  test("is forgotten by a logout", async () => {
    assert.match((await run("logout")).out, /^work: logged out\n$/);
    const work = (await contexts()).contexts.find((one) => one.name === "work");
    for (const key of ["token", "refresh", "token_url", "client_id"]) assert.equal(work[key] ?? "", "");
    assert.equal((await run("whoami")).code, 4);
    assert.match((await run("logout")).out, /there was no token/);
  });

  test("says what is missing", async () => {
    assert.match((await run("login", "new")).err, /there is no context new: to make one, pass --server/);
    assert.match((await run("login", "work", "--issuer", "nobody")).err, /has no identity provider `nobody`/);
    const plain = await Server.start({ issuers: [{ name: "api", issuer: provider.url, audience: "reeve", map: rules }] });
    assert.match((await run("login", "x", "--server", `127.0.0.1:${plain.port}`)).err, /has no identity provider for the command line/);
    await plain.remove();
  });
});
