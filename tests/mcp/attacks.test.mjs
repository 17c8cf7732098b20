// Bytes that no client sends: each is answered or refused, and what comes after it is served.
import assert from "node:assert/strict";
import { test } from "node:test";

import { post } from "./lib.mjs";
import { Line } from "./line.mjs";
import { server } from "./server.mjs";

const PING = '{"jsonrpc":"2.0","id":"still","method":"ping"}';
const bytes = (text) => Buffer.from(text, "latin1");
const deep = (depth) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`;

const attacks = {
  "not JSON": ["hello", -32700],
  "an unfinished message": ['{"jsonrpc":"2.0","id":1', -32700],
  "bytes that are not UTF-8": [bytes('{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}'), -32700],
  "half of a surrogate pair": ['{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', -32700],
  "a zero byte": [bytes('{"jsonrpc":"2.0","id":1,\0"method":"ping"}'), -32700],
  "nesting without end": [deep(100_000), -32700],
  "a key that comes twice": ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700],
  "a number that is none": ['{"jsonrpc":"2.0","id":01,"method":"ping"}', -32700],
  "a batch in a batch": ['[[{"jsonrpc":"2.0","id":1,"method":"ping"}]]', -32600],
  "a batch that is too long": [`[${Array(65).fill('{"jsonrpc":"2.0","id":1,"method":"ping"}').join(",")}]`, -32600],
  "an id that is an object": ['{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', -32600],
  "a number as large as a book": [`{"jsonrpc":"2.0","id":${"9".repeat(5000)},"method":"ping"}`, -32600],
  "a method of a megabyte": [`{"jsonrpc":"2.0","id":1,"method":"${"m".repeat(1 << 20)}"}`, -32601],
  "a tool of a megabyte": [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${"t".repeat(1 << 20)}"}}`, -32602],
};

for (const [name, [text, code]] of Object.entries(attacks)) {
  test(`attack: ${name}`, async () => {
    const reeve = await server();
    const line = new Line(reeve);
    const said = JSON.parse(await line.raw(text));
    assert.equal((said[0] ?? said).error.code, code);
    assert.ok(JSON.stringify(said).length < 1000, "a refusal is short");
    assert.equal(JSON.parse(await line.raw(PING)).id, "still");
    assert.equal(await line.close(), 0);
    assert.equal(line.errors, "");
    const got = await post(reeve, text);
    assert.equal(got.status, code === -32700 || (code === -32600 && !name.includes("in a batch")) ? 400 : 200);
    const body = await got.json();
    assert.equal((body[0] ?? body).error.code, code);
  });
}

test("attack: arguments that are longer than anything they could mean", async () => {
  const reeve = await server();
  const line = new Line(reeve);
  const long = "x".repeat(100_000);
  const cases = [
    ["why", { job: long }], ["get_job_status", { job_id: long }], ["store_get", { key: long }], ["show", { target: long }],
    ["submit_single_job", { job_id: long, script_content: "x" }], ["cancel", { target: long }], ["wait", { target: long }],
    ["list", { name: long }], ["list", { cursor: long }], ["list", { labels: { [long]: long } }], ["logs", { job: `f11/${long}` }],
    ["approve_hitl_gate", { gate_id: long }], ["submit_dag_pipeline", { dag_name: long, jobs_json: [{ job_id: "a", script_content: "x" }] }],
    ["submit_single_job", { job_id: "a", script_content: "x", requirement: long }], ["events", { flow: long, since: long }],
    ["submit_single_job", { job_id: "a", script_content: "x", args: long }],
    ["store_put", { key: "\u0000", value: "" }], ["deploy_script", { script_name: `${long}.py`, script_content: "x" }],
    ["submit_single_job", { job_id: "\u0000/../x", script_content: "" }], ["logs", { job: "x", attempt: 2 ** 40 }],
  ];
  for (const [name, args] of cases) {
    const params = { name, arguments: args };
    const message = JSON.stringify({ jsonrpc: "2.0", id: name, method: "tools/call", params });
    for (const said of [JSON.parse(await line.raw(message)), await (await post(reeve, message)).json()]) {
      assert.equal(said.id, name);
      assert.ok(said.result ?? said.error, name);
    }
  }
  assert.equal(JSON.parse(await line.raw(PING)).id, "still");
  assert.equal(await line.close(), 0);
  assert.equal(line.errors, "");
});

test("attack: a text that would be a tree larger than memory allows", async () => {
  const reeve = await server();
  const jobs_json = `[${"1,".repeat(5_000_000)}1]`;
  const params = { name: "submit_dag_pipeline", arguments: { dag_name: "d", jobs_json } };
  const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const direct = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${jobs_json}}}`;
  const line = new Line(reeve);
  for (const said of [JSON.parse(await line.raw(message)), await (await post(reeve, message)).json()])
    assert.equal(JSON.parse(said.result.content[0].text).code, "limit");
  for (const said of [JSON.parse(await line.raw(direct)), await (await post(reeve, direct)).json()])
    assert.equal(said.error.code, -32700);
  assert.equal(await line.close(), 0);
});

test("attack: a line that is longer than any message", async () => {
  const line = new Line(await server());
  line.send("x".repeat((16 << 20) + (1 << 20)));
  assert.equal(JSON.parse(await line.next()).error.code, -32700);
  assert.equal(JSON.parse(await line.raw(PING)).id, "still");
  assert.equal(await line.close(), 0);
});

test("attack: more calls at once than there is room for are all answered", async () => {
  const reeve = await server();
  const line = new Line(reeve);
  const ids = Array.from({ length: 200 }, (_, i) => i);
  for (const id of ids) line.send(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "list" } }));
  const heard = [];
  for (let i = 0; i < ids.length; i++) heard.push(JSON.parse(await line.next()).id);
  assert.deepEqual(heard.sort((a, b) => a - b), ids);
  assert.equal(await line.close(), 0);
});

test("attack: blank lines and the end of input are no messages", async () => {
  const line = new Line(await server());
  line.process.stdin.write("\n\r\n   \n" + PING); // and its last line without an end
  line.process.stdin.end();
  assert.equal(JSON.parse(await line.next()).id, "still");
  assert.equal(await line.over, 0);
});
