// Who may do what: each call is made with the rights of its caller, and the audit trail names the caller.
import assert from "node:assert/strict";
import { test } from "node:test";

import { call, connect, tokenOf } from "./lib.mjs";
import { server } from "./server.mjs";

const flow = { jobs: { g: { gate: { message: "?" } } } };

for (const how of ["stdio", "http"]) {
  test(`${how}: roles are those of the token`, async () => {
    const reeve = await server();
    const viewer = await connect(reeve, how, { token: await tokenOf(reeve, `${how}-viewer`, "viewer") });
    const agent = await connect(reeve, how, { token: await tokenOf(reeve, `${how}-agent`, "submitter", "viewer") });
    const boss = await connect(reeve, how, { token: await tokenOf(reeve, `${how}-boss`, "approver", "viewer") });
    await call(viewer, "list");
    await call(viewer, "ping_master");
    const forbidden = { code: "forbidden" };
    await assert.rejects(call(viewer, "submit", { flow }), forbidden);
    await assert.rejects(call(viewer, "plan", { flow }), forbidden);
    await assert.rejects(call(viewer, "submit_single_job", { job_id: "x", script_content: "print(1)" }), forbidden);
    await assert.rejects(call(viewer, "store_put", { key: "k", value: "v" }), forbidden);
    await assert.rejects(call(viewer, "deploy_script", { script_name: "x.py", script_content: "x" }), forbidden);
    const made = await call(agent, "submit", { flow });
    const { questions } = await call(agent, "questions", { most: 100 });
    const { hash } = questions.find((q) => q.job === `${made.flow}/g`);
    await assert.rejects(call(agent, "approve", { job: `${made.flow}/g`, hash }), forbidden);
    await assert.rejects(call(agent, "approve_hitl_gate", { gate_id: `${made.flow}/g` }), forbidden);
    await assert.rejects(call(viewer, "cancel", { target: made.flow }), forbidden);
    for (const name of ["retry", "rerun", "discard"]) await assert.rejects(call(viewer, name, { target: made.flow }), forbidden);
    for (const name of ["pause", "resume"]) await assert.rejects(call(viewer, name, { name: made.flow }), forbidden);
    await assert.rejects(call(agent, "pause", { name: "default", scope: "pool" }), forbidden);
    await assert.rejects(call(agent, "drain", { worker: "nobody" }), forbidden);
    await assert.rejects(call(viewer, "schedule_change", { name: "s", action: "remove" }), forbidden);
    const timed = { name: `${how}-timed`, schedule: { every: "1d" }, ...flow };
    await assert.rejects(call(viewer, "schedule", { flow: timed }), forbidden);
    await call(viewer, "schedules");
    await call(viewer, "artifacts", { job: `${made.flow}/g` });
    // An agent has the roles of its token and is no person: it can reject.
    await assert.rejects(call(boss, "approve", { job: `${made.flow}/g`, hash }), { code: "forbidden", message: /only a person/ });
    assert.equal((await call(boss, "approve", { job: `${made.flow}/g`, hash, verdict: "reject" })).status, "rejected");
    await assert.rejects(call(boss, "submit", { flow }), forbidden);
    assert.equal((await call(agent, "wait", { target: made.flow, timeout_s: 60 })).state, "failed");

    const audit = await (await reeve.api("/audit?most=100")).json();
    const who = (kind) => audit.records.filter((one) => one.kind === kind).map((one) => one.principal);
    assert.ok(who("submitted").includes(`${how}-agent`), JSON.stringify(audit.records[0]));
    assert.ok(who("verdict").includes(`${how}-boss`));
    for (const one of [viewer, agent, boss]) await one.close();
  });

  test(`${how}: a token that nobody knows is refused`, async () => {
    const reeve = await server();
    if (how === "http") {
      await assert.rejects(connect(reeve, how, { token: "nobody" }), { code: 401 });
      return;
    }
    const c = await connect(reeve, how, { token: "nobody" }); // who we are is asked with the first call
    await assert.rejects(c.callTool({ name: "list", arguments: {} }), { code: -32000 });
    await c.close();
  });
}
