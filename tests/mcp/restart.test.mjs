// A server that dies under its agents: they hear so, nothing that was submitted is lost, and the next call works.
import assert from "node:assert/strict";
import { test } from "node:test";

import { approve, call, connect, Reeve } from "./lib.mjs";
import { Line } from "./line.mjs";

const BACK_MS = 60_000;

/** Calls until the server is back. */
async function again(c, name, args) {
  const end = Date.now() + BACK_MS;
  for (;;) {
    try {
      return await call(c, name, args);
    } catch (error) {
      if (error.code !== -32000 && !(error.cause ?? error instanceof TypeError)) throw error;
      if (Date.now() > end) throw error;
    }
  }
}

for (const how of ["stdio", "http"]) {
  test(`${how}: a killed server is heard of, and its agent goes on`, async (test) => {
    const reeve = await Reeve.start();
    test.after(() => reeve.stop());
    const c = await connect(reeve, how);
    const { flow } = await call(c, "submit", { flow: { jobs: { g: { gate: { message: "?" } }, after: { run: "echo yes", needs: "g" } } } });
    const waiting = call(c, "wait", { target: flow, timeout_s: 300 });
    // Listening before the kill: its end may be heard while the kill is still under way.
    const refused = how === "stdio" ? assert.rejects(waiting, { code: -32000, message: /gone|may or may not/ }) : assert.rejects(waiting);
    await call(c, "show", { target: flow });
    await reeve.killServer();
    await refused;
    const shown = await again(c, "show", { target: flow });
    assert.equal(shown.state, "running");
    assert.equal((await again(c, "questions", {})).questions.length, 1);
    await approve(reeve, `${flow}/g`);
    assert.equal((await again(c, "wait", { target: flow, timeout_s: 120 })).state, "succeeded");
    assert.equal((await call(c, "logs", { job: `${flow}/after` })).text, "yes\n");
    await c.close();
  });
}

test("stdio: without a server the protocol is served, and calls say what to do", async () => {
  const line = new Line({ data: "/nonexistent/reeve" });
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  assert.ok((await line.ask({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello })).result);
  assert.ok((await line.ask({ jsonrpc: "2.0", id: 2, method: "tools/list" })).result.tools.length > 20);
  const got = await line.ask({ jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "ping_master", arguments: {} } });
  assert.equal(got.error.code, -32000);
  assert.match(got.error.message, /no server is running .*reeve up/);
  assert.equal(await line.close(), 0);
});
