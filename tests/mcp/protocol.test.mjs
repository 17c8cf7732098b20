// The protocol itself: revisions, batches, notifications, and what its errors are.
import assert from "node:assert/strict";
import { test } from "node:test";

import { call, post } from "./lib.mjs";
import { client, server } from "./server.mjs";
import { Line } from "./line.mjs";

const rpc = (id, method, params) => ({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method, ...(params ? { params } : {}) });
const hello = (protocolVersion, id = 1) =>
  rpc(id, "initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } });

/** Asks one thing by each transport; both have to answer the same. */
async function both(message, revision) {
  const reeve = await server();
  const line = new Line(reeve);
  if (revision) await line.ask(hello(revision));
  const by_stdio = await line.ask(message);
  await line.close();
  const answer = await post(reeve, JSON.stringify(message), revision ? { "mcp-protocol-version": revision } : {});
  const by_http = await answer.json();
  assert.deepEqual(by_http, by_stdio);
  return by_http;
}

test("each revision that we know is agreed on, and ours is offered for any other", async () => {
  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18"]) {
    const got = await both(hello(revision));
    assert.equal(got.result.protocolVersion, revision);
    assert.equal(got.result.serverInfo.name, "reeve");
    assert.deepEqual(got.result.capabilities, { tools: {} });
  }
  assert.equal((await both(hello("2030-01-01"))).result.protocolVersion, "2025-06-18");
  assert.equal((await both(rpc(1, "initialize", {}))).error.code, -32602);
});

test("a result has its structured form only where the revision knows it", async () => {
  const ask = rpc(7, "tools/call", { name: "store_get", arguments: { key: "none" } });
  assert.equal((await both(ask, "2025-03-26")).result.structuredContent, undefined);
  assert.deepEqual((await both(ask, "2025-06-18")).result.structuredContent, { key: "none", value: null });
  const tools = (answer) => answer.result.tools;
  assert.equal(tools(await both(rpc(1, "tools/list"), "2024-11-05"))[0].annotations, undefined);
  assert.equal(tools(await both(rpc(1, "tools/list"), "2025-06-18"))[0].annotations.readOnlyHint, true);
});

test("every tool is described, and its description is a schema", async () => {
  const { tools } = await (await client("http")).listTools();
  assert.ok(tools.length >= 24);
  for (const tool of tools) {
    assert.ok(tool.description.length > 20, tool.name);
    assert.equal(tool.inputSchema.type, "object");
    assert.equal(tool.inputSchema.additionalProperties, false);
    for (const name of tool.inputSchema.required) assert.ok(name in tool.inputSchema.properties);
    for (const one of Object.values(tool.inputSchema.properties)) assert.ok(one.type && one.description);
  }
});

test("ids come back as they were", async () => {
  for (const id of [0, -5, 9007199254740993n.toString(), "a\"b\\c\u00fc", ""]) {
    const text = `{"jsonrpc":"2.0","id":${typeof id === "string" && /^\d+$/.test(id) ? id : JSON.stringify(id)},"method":"ping"}`;
    const reeve = await server();
    const line = new Line(reeve);
    const answer = await line.raw(text);
    await line.close();
    assert.equal(answer, await (await post(reeve, text)).text());
    assert.ok(answer.includes(`"id":${/"id":(.*),"method"/.exec(text)[1]}`), answer);
  }
});

test("errors of messages are those of JSON-RPC", async () => {
  const code = async (message) => (await both(message)).error.code;
  assert.equal(await code(rpc(1, "resources/list")), -32601);
  assert.equal(await code(rpc(1, "tools/call", { name: "nope" })), -32602);
  assert.equal(await code(rpc(1, "tools/call", {})), -32602);
  assert.equal(await code(rpc(1, "tools/call", { name: "list", arguments: [] })), -32602);
  assert.equal(await code({ jsonrpc: "1.0", id: 1, method: "ping" }), -32600);
  assert.equal(await code({ jsonrpc: "2.0", id: null, method: "ping" }), -32600);
  assert.equal(await code({ jsonrpc: "2.0", id: 1.5, method: "ping" }), -32600);
  assert.equal(await code({ jsonrpc: "2.0", id: 1 }), -32600);
  assert.equal(await code({ jsonrpc: "2.0", id: 1, method: 7 }), -32600);
  assert.equal(await code({ jsonrpc: "2.0", id: 1, method: "ping", params: [] }), -32600);
  assert.equal(await code([]), -32600);
  assert.equal(await code("ping"), -32600);
});

test("a batch is answered as one, without its notifications", async () => {
  const got = await both([
    rpc(1, "ping"),
    rpc(undefined, "notifications/initialized"),
    rpc("two", "tools/call", { name: "store_get", arguments: { key: "none" } }),
    { jsonrpc: "2.0", id: 9, result: {} },
    7,
  ]);
  assert.deepEqual(got.map((one) => one.id), [1, "two", null]);
  assert.equal(got[2].error.code, -32600);
  const reeve = await server();
  const silent = await post(reeve, JSON.stringify([rpc(undefined, "notifications/initialized")]));
  assert.equal(silent.status, 202);
  assert.equal(await silent.text(), "");
});

test("what is wrong with arguments is a result that the model can read", async () => {
  const { result } = await both(rpc(1, "tools/call", { name: "why", arguments: {} }), "2025-06-18");
  assert.equal(result.isError, true);
  assert.match(result.structuredContent.message, /why needs `job`/);
  assert.equal((await both(rpc(1, "tools/call", { name: "why", arguments: { job: 7 } }))).result.isError, true);
});

test("by HTTP: methods, types and revisions that we do not serve are told apart", async () => {
  const reeve = await server();
  const head = { authorization: `Bearer ${reeve.token}` };
  const get = await fetch(`${reeve.url}/mcp`, { headers: { ...head, accept: "text/event-stream" } });
  assert.equal(get.status, 405);
  assert.equal(get.headers.get("allow"), "POST, OPTIONS");
  assert.equal((await fetch(`${reeve.url}/mcp`, { method: "DELETE", headers: head })).status, 405);
  const ping = JSON.stringify(rpc(1, "ping"));
  assert.equal((await post(reeve, ping, { "content-type": "text/plain" })).status, 415);
  assert.equal((await post(reeve, ping, { accept: "text/html" })).status, 406);
  assert.equal((await post(reeve, ping, { "mcp-protocol-version": "1999-01-01" })).status, 400);
  assert.equal((await post(reeve, "{")).status, 400);
  assert.equal((await post(reeve, ping, { authorization: "Bearer nonsense" })).status, 401);
  assert.equal((await post(reeve, ping, { origin: "http://evil.example" })).status, 403);
  assert.equal((await post(reeve, ping, { origin: reeve.url })).status, 200);
});

test("by HTTP: a call is cancelled by the session that made it, and by no other", async () => {
  const reeve = await server();
  const began = await post(reeve, JSON.stringify(hello("2025-06-18")));
  const session = began.headers.get("mcp-session-id");
  assert.match(session, /^[0-9a-f]{32}$/);
  const c = await client("http");
  const { flow } = await call(c, "submit", { flow: { jobs: { g: { gate: { message: "?" } } } } });
  let status;
  const ask = rpc(5, "tools/call", { name: "wait", arguments: { target: flow, timeout_s: 300 } });
  const waiting = post(reeve, JSON.stringify(ask), { "mcp-session-id": session }).then((r) => (status = r.status));
  const cancel = (of) => post(reeve, JSON.stringify(rpc(undefined, "notifications/cancelled", { requestId: 5 })), of);
  // Until the wait is there, a cancel finds nothing: it is sent until it does.
  assert.equal((await cancel({ "mcp-session-id": "another" })).status, 202);
  assert.equal((await cancel({})).status, 202);
  assert.equal(status, undefined);
  while (status === undefined) await cancel({ "mcp-session-id": session });
  await waiting;
  assert.equal(status, 202);
  await call(c, "cancel", { target: flow });
});
