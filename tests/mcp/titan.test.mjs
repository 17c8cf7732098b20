// Titan's eleven tools, by the same names, arguments and shapes, each good and bad, by both transports.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { approve, call } from "./lib.mjs";
import { client, server } from "./server.mjs";

const TOOLS = [
  "ping_master", "submit_single_job", "submit_dag_pipeline", "submit_yaml_pipeline", "get_job_status", "get_job_logs",
  "approve_hitl_gate", "reject_hitl_gate", "store_get", "store_put", "deploy_script",
];

async function over(c, target) {
  const got = await call(c, "wait", { target, timeout_s: 60 });
  assert.equal(got.over, true, `${target} is over`);
  return got;
}

async function pending(c) {
  const { questions } = await call(c, "questions", { most: 100 });
  return questions;
}

/** Until a gate is asked about: its parent has to be over first. */
async function gateOf(c, job) {
  await over(c, job);
  const got = (await pending(c)).find((q) => q.job.endsWith(`hitl-gate-${job}`));
  assert.ok(got, `the gate behind ${job} is asked about`);
  return got;
}

for (const how of ["stdio", "http"]) {
  const id = (name) => `${how}-${name}`;

  test(`${how}: the tools of Titan are there, with their arguments`, async () => {
    const { tools } = await (await client(how)).listTools();
    for (const name of TOOLS) assert.ok(tools.find((tool) => tool.name === name), name);
    const single = tools.find((tool) => tool.name === "submit_single_job");
    assert.deepEqual(Object.keys(single.inputSchema.properties), ["job_id", "script_content", "args", "requirement", "priority"]);
    assert.deepEqual(single.inputSchema.required, ["job_id", "script_content"]);
  });

  test(`${how}: ping_master says that the server is there`, async () => {
    const got = await call(await client(how), "ping_master");
    assert.equal(got.status, "ok");
    assert.ok(got.host);
    assert.ok(got.message);
  });

  test(`${how}: a single job runs, and its status and logs are found by its id`, async () => {
    const c = await client(how);
    const script = "import sys\nprint('hello', sys.argv[1:], flush=False)\nprint('grüße', file=sys.stderr)\n";
    const got = await call(c, "submit_single_job", { job_id: id("one"), script_content: script, args: "a  b" });
    assert.equal(got.status, "submitted");
    assert.equal(got.job_id, id("one"));
    assert.equal(got.master_response, "DAG_ACCEPTED");
    await over(c, id("one"));
    assert.equal((await call(c, "get_job_status", { job_id: id("one") })).status, "COMPLETED");
    assert.equal((await call(c, "get_job_status", { job_id: `DAG-${id("one")}` })).status, "COMPLETED");
    const { job_id, logs } = await call(c, "get_job_logs", { job_id: id("one") });
    assert.equal(job_id, id("one"));
    assert.match(logs, /hello \['a', 'b'\]/);
    assert.match(logs, /grüße/);
  });

  test(`${how}: the newest job of an id is meant`, async () => {
    const c = await client(how);
    for (const word of ["first", "second"]) {
      await call(c, "submit_single_job", { job_id: id("again"), script_content: `print('${word}')` });
      await over(c, id("again"));
    }
    assert.equal((await call(c, "get_job_logs", { job_id: id("again") })).logs, "second\n");
    const reeve = await server();
    const listed = async (job) => (await (await reeve.api(`/flows?job=${job}`)).json()).flows.length;
    assert.equal(await listed(`DAG-${id("again")}`), 2);
    assert.equal(await listed(`DAG-${id("agai")}`), 0, "the whole name counts");
  });

  test(`${how}: an id that nobody submitted is NULL, without logs`, async () => {
    const c = await client(how);
    assert.equal((await call(c, "get_job_status", { job_id: "nobody" })).status, "NULL");
    assert.equal((await call(c, "get_job_logs", { job_id: "nobody" })).logs, "(no logs available)");
  });

  test(`${how}: what fails for good is DEAD, and what needs it CANCELLED`, async () => {
    const c = await client(how);
    const jobs = [
      { job_id: id("bad"), script_content: "import sys; sys.exit(3)" },
      { job_id: id("child"), script_content: "print(1)", parents: [id("bad")] },
    ];
    const { flow } = await call(c, "submit_dag_pipeline", { dag_name: id("dead"), jobs_json: JSON.stringify(jobs) });
    await over(c, flow);
    assert.equal((await call(c, "get_job_status", { job_id: id("bad") })).status, "DEAD");
    assert.equal((await call(c, "get_job_status", { job_id: id("child") })).status, "CANCELLED");
  });

  test(`${how}: a pipeline keeps its order, and hitl_message stops it until someone approves`, async () => {
    const c = await client(how);
    const jobs = [
      { job_id: id("load"), script_content: "print('load')", parents: [id("make")] }, // in any order
      { job_id: id("make"), script_content: "print('make')", hitl_message: "go on?", priority: 2 },
    ];
    const got = await call(c, "submit_dag_pipeline", { dag_name: id("gated"), jobs_json: JSON.stringify(jobs) });
    assert.equal(got.status, "submitted");
    assert.equal(got.dag_name, id("gated"));
    assert.equal(got.job_count, 2);
    assert.match(got.agent_run_id, new RegExp(`^mcp-${id("gated")}-[0-9a-f]{8}$`));
    const gate = await gateOf(c, id("make"));
    assert.equal(gate.message, "go on?");
    assert.equal((await call(c, "get_job_status", { job_id: id("load") })).status, "PENDING");
    assert.equal((await call(c, "get_job_status", { job_id: `hitl-gate-${id("make")}` })).status, "RUNNING"); // as its script would be
    assert.equal((await call(c, "why", { job: id("load") })).code, "parents");
    const job = `${got.flow}/DAG-hitl-gate-${id("make")}`;
    const command = new RegExp(`reeve approve ${job}`);
    await assert.rejects(call(c, "approve_hitl_gate", { gate_id: `hitl-gate-${id("make")}` }), { code: "forbidden", message: command });
    await approve(await server(), job);
    assert.equal((await over(c, got.flow)).state, "succeeded");
  });

  test(`${how}: a gate that is rejected ends what follows it`, async () => {
    const c = await client(how);
    const jobs_json = [
      { job_id: id("ask"), script_content: "print(1)", hitl_message: "really?" },
      { job_id: id("never"), script_content: "print(2)", parents: [id("ask")] },
    ];
    const { flow } = await call(c, "submit_dag_pipeline", { dag_name: id("no"), jobs_json, agent_run_id: id("run") });
    await gateOf(c, id("ask"));
    assert.equal((await call(c, "reject_hitl_gate", { gate_id: id("ask") })).status, "rejected"); // by the job, too
    await over(c, flow);
    assert.equal((await call(c, "get_job_status", { job_id: id("never") })).status, "CANCELLED");
    assert.equal((await call(c, "get_job_status", { job_id: `hitl-gate-${id("ask")}` })).status, "DEAD");
    const { flows } = await call(c, "list", { labels: { agent_run_id: id("run") } });
    assert.deepEqual(flows.map((one) => one.flow), [flow]);
    await assert.rejects(call(c, "approve_hitl_gate", { gate_id: id("ask") }), { code: "wrong_state" });
    await assert.rejects(call(c, "approve_hitl_gate", { gate_id: "nobody" }), { code: "not_found" });
  });

  test(`${how}: a parent may have been submitted before, and be over`, async () => {
    const c = await client(how);
    await call(c, "submit_single_job", { job_id: id("early"), script_content: "print('early')" });
    await over(c, id("early"));
    const jobs_json = [{ job_id: id("late"), script_content: "print('late')", parents: [id("early")] }];
    const { flow } = await call(c, "submit_dag_pipeline", { dag_name: id("grow"), jobs_json });
    assert.equal((await over(c, flow)).state, "succeeded");
    jobs_json[0] = { ...jobs_json[0], parents: ["nobody"] };
    await assert.rejects(call(c, "submit_dag_pipeline", { dag_name: id("grow"), jobs_json }), { code: "unknown_name" });
  });

  test(`${how}: bad pipelines are refused with a sentence, and nothing runs`, async () => {
    const c = await client(how);
    const bad = (jobs_json, code, words) =>
      assert.rejects(call(c, "submit_dag_pipeline", { dag_name: id("bad-dag"), jobs_json }), (error) => {
        assert.equal(error.code, code);
        assert.match(error.message, words);
        return true;
      });
    await bad("[", "invalid", /jobs_json/);
    await bad("{}", "invalid", /list/);
    await bad([], "invalid", /at least one/);
    await bad([{ script_content: "x" }], "invalid", /job_id/);
    await bad([{ job_id: "a" }], "invalid", /script_content/);
    await bad([{ job_id: "a", script_content: "x", colour: 1 }], "invalid", /colour/);
    await bad([{ job_id: "a", script_content: "x", priority: "high" }], "invalid", /whole number/);
    const twice = { job_id: "a", script_content: "x" };
    await bad([twice, twice], "duplicate_name", /two jobs/);
    const a = { job_id: "a", script_content: "x", parents: ["b"] };
    const b = { job_id: "b", script_content: "x", parents: ["a"] };
    await bad([a, b], "cycle", /./);
    const parents = Array.from({ length: 65 }, (_, i) => `nobody-${i}`);
    await bad([{ job_id: "a", script_content: "x", parents }], "limit", /64 parents/);
    assert.deepEqual((await call(c, "list", { name: id("bad-dag") })).flows, []);
  });

  test(`${how}: a requirement that no worker meets waits, and why says so`, async () => {
    const c = await client(how);
    const { flow } = await call(c, "submit_single_job", { job_id: id("gpu"), script_content: "print(1)", requirement: "QPU" });
    assert.equal((await call(c, "get_job_status", { job_id: id("gpu") })).status, "PENDING");
    assert.match((await call(c, "why", { job: id("gpu") })).code, /capab|worker/);
    await call(c, "cancel", { target: flow, reason: "no such thing" });
    await over(c, flow);
  });

  test(`${how}: a script that is longer than a job may be runs all the same`, async () => {
    const c = await client(how);
    const script_content = `x = """${"a".repeat(200_000)}"""\nprint(len(x))\n`;
    await call(c, "submit_single_job", { job_id: id("long"), script_content });
    await over(c, id("long"));
    assert.equal((await call(c, "get_job_logs", { job_id: id("long") })).logs, "200000\n");
  });

  test(`${how}: the store keeps what was put`, async () => {
    const c = await client(how);
    const reeve = await server();
    const value = `zwölf | pipes; and ] "quotes"\n${how}`;
    assert.equal((await call(c, "store_put", { key: id("k"), value })).master_response, "OK");
    assert.deepEqual(await call(c, "store_get", { key: id("k") }), { key: id("k"), value });
    assert.equal((await call(c, "store_get", { key: "nothing" })).value, null);
    const [item] = await reeve.json("kv", "get", `user:${id("k")}`);
    assert.ok(item, "others see it as user:KEY");
    await assert.rejects(call(c, "store_put", { key: "k" }), { code: "invalid", message: /needs `value`/ });
  });

  test(`${how}: a script is deployed by name`, async () => {
    const c = await client(how);
    const reeve = await server();
    const got = await call(c, "deploy_script", { script_name: `${how}.py`, script_content: "print(1)" });
    assert.equal(got.status, "deployed");
    assert.equal(await reeve.cli("blob", "get", got.hash), "print(1)");
    await assert.rejects(call(c, "deploy_script", { script_name: "../x.py", script_content: "x" }), { code: "invalid" });
    await assert.rejects(call(c, "deploy_script", { script_name: "x.sh", script_content: "x" }), { code: "invalid" });
    await assert.rejects(call(c, "deploy_script", { script_name: "x.py", script_content: "" }), { code: "invalid" });
  });
}

test("stdio: a pipeline file of Titan's, and one of ours", async () => {
  const c = await client("stdio");
  const folder = await mkdtemp(join(tmpdir(), "reeve-mcp-"));
  await writeFile(join(folder, "a.py"), "import sys; print('a', sys.argv[1:])");
  await writeFile(join(folder, "b.sh"), "echo b");
  await writeFile(
    join(folder, "titan.yaml"),
    "name: demo\nproject: false\njobs:\n  - {id: ya, file: a.py, args: \"x y\", priority: 10}\n" +
      "  - {id: yb, file: b.sh, depends_on: [ya], delay: 0, affinity: true, requirement: GENERAL}\n",
  );
  await writeFile(join(folder, "ours.yaml"), "name: ours\njobs:\n  hi:\n    script: a.py\n  bye:\n    run: echo bye\n    needs: hi\n");
  const titan = await call(c, "submit_yaml_pipeline", { yaml_path: join(folder, "titan.yaml"), agent_run_id: "r1" });
  assert.equal(titan.dag_name, "demo");
  assert.equal(titan.agent_run_id, "r1");
  assert.equal((await over(c, titan.flow)).state, "succeeded");
  assert.equal((await call(c, "get_job_logs", { job_id: "ya" })).logs, "a ['x', 'y']\n");
  assert.equal((await call(c, "get_job_logs", { job_id: "yb" })).logs, "b\n");
  const ours = await call(c, "submit_yaml_pipeline", { yaml_path: join(folder, "ours.yaml") });
  assert.equal(ours.job_count, 2);
  assert.equal((await over(c, ours.flow)).state, "succeeded");
  await writeFile(join(folder, "project.yaml"), "name: p\nproject: true\njobs: []\n");
  await writeFile(join(folder, "broken.yaml"), "jobs: [\n");
  const refuse = (name, code) => assert.rejects(call(c, "submit_yaml_pipeline", { yaml_path: join(folder, name) }), { code });
  await refuse("project.yaml", "unsupported");
  await refuse("broken.yaml", "invalid");
  await refuse("missing.yaml", "not_found");
});

test("http: a file of the agent's machine is refused with a way out", async () => {
  const c = await client("http");
  await assert.rejects(call(c, "submit_yaml_pipeline", { yaml_path: "/etc/passwd" }), { code: "unsupported", message: /submit_dag_pipeline/ });
});
