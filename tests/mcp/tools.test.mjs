// Our own tools, good and bad, by both transports.
import assert from "node:assert/strict";
import { test } from "node:test";

import { approve, call } from "./lib.mjs";
import { client, server } from "./server.mjs";

for (const how of ["stdio", "http"]) {
  test(`${how}: plan tells what a flow would do, and runs nothing`, async () => {
    const c = await client(how);
    const flow = {
      name: `${how}-plan`,
      jobs: {
        make: "true",
        fast: { run: "true", needs: "make", requires: ["QPU"] },
        ask: { gate: { message: "ok?" }, needs: "make" },
        end: { run: "true", needs: ["fast", "ask"], delay: "5s" },
      },
    };
    const got = await call(c, "plan", { flow });
    assert.equal(got.valid, true);
    assert.equal(got.job_count, 4);
    assert.equal(got.stages, 3);
    const job = Object.fromEntries(got.jobs.map((one) => [one.name, one]));
    assert.equal(job.make.workers_that_fit, 1);
    assert.deepEqual(job.make.waits_for, []);
    assert.equal(job.fast.workers_that_fit, 0);
    assert.match(job.fast.waits_for[0], /worker/);
    assert.deepEqual(job.fast.it_lacks, ["capability QPU"]);
    assert.equal(got.jobs_without_worker, 1);
    assert.match(job.ask.waits_for[0], /person/);
    assert.match(job.end.waits_for[0], /5000 ms/);
    assert.deepEqual(job.end.needs.sort(), ["ask", "fast"]);
    assert.equal(job.end.stage, 3);
    assert.deepEqual((await call(c, "list", { name: `${how}-plan` })).flows, []);
  });

  test(`${how}: plan says what is wrong with a flow, and where`, async () => {
    const c = await client(how);
    const bad = async (flow, words) => {
      const got = await call(c, "plan", { flow });
      assert.equal(got.valid, false);
      assert.match(got.problem, words);
    };
    await bad({ jobs: { a: { rum: "true" } } }, /rum/);
    await bad({ jobs: { a: { run: "true", needs: "b" }, b: { run: "true", needs: "a" } } }, /circle|cycle/);
    await bad({ jobs: {} }, /./);
    await bad({ jobs: { a: { run: "true", priority: 99999 } } }, /priority/);
    await assert.rejects(call(c, "plan", {}), { code: "invalid", message: /needs `flow`/ });
  });

  test(`${how}: a flow is submitted once with its key, grows, and is waited for`, async () => {
    const c = await client(how);
    const flow = { name: `${how}-native`, params: { word: "x" }, jobs: { a: "echo ${params.word}", hold: { gate: { message: "go?" } } } };
    const got = await call(c, "submit", { flow, params: { word: how }, key: `${how}-key` });
    assert.equal(got.status, "submitted");
    assert.equal((await call(c, "submit", { flow, params: { word: how }, key: `${how}-key` })).flow, got.flow);
    const job = await call(c, "wait", { target: `${got.flow}/a`, timeout_s: 60 });
    assert.equal(job.state, "succeeded");
    assert.equal((await call(c, "logs", { job: `${got.flow}/a` })).text, `${how}\n`);
    const added = await call(c, "add", { flow: got.flow, jobs: { more: { run: "echo '{\"n\": 7}' > $REEVE_OUTPUT", needs: "a" } } });
    assert.equal(added.status, "added");
    await call(c, "wait", { target: `${got.flow}/more`, timeout_s: 60 });
    assert.deepEqual((await call(c, "show", { target: `${got.flow}/more` })).result, { n: 7 });
    const again = await call(c, "run_again", { flow: got.flow, params: { word: "again" } });
    assert.notEqual(again.flow, got.flow);
    const like = await call(c, "show", { target: again.flow });
    assert.deepEqual([like.params, like.again_of], [{ word: "again" }, got.flow]);
    await assert.rejects(call(c, "run_again", { flow: got.flow, params: { wort: "x" } }), { code: "unknown_name" });
    const waiting = await call(c, "wait", { target: got.flow, timeout_s: 1 });
    assert.equal(waiting.over, false);
    const shown = await call(c, "show", { target: got.flow });
    assert.equal(shown.state, "running");
    assert.deepEqual(shown.jobs.map((one) => one.job.split("/")[1]).sort(), ["a", "hold", "more"]);
    assert.equal((await call(c, "why", { job: `${got.flow}/hold` })).code, "question");
    const events = await call(c, "events", { flow: got.flow, most: 3 });
    assert.equal(events.events.length, 3);
    assert.ok((await call(c, "events", { flow: got.flow, since: events.since })).events.length > 0);
    assert.equal((await call(c, "cancel", { target: got.flow })).status, "cancelled");
    assert.equal((await call(c, "wait", { target: got.flow, timeout_s: 60 })).state, "cancelled");
    await assert.rejects(call(c, "add", { flow: got.flow, jobs: { late: "true" } }), { code: "wrong_state" });
  });

  test(`${how}: an approval is bound to what was shown`, async () => {
    const c = await client(how);
    const { flow } = await call(c, "submit", { flow: { jobs: { g: { gate: { message: "drop table?" } } } } });
    const { questions } = await call(c, "questions", { most: 100 });
    const asked = questions.find((q) => q.job === `${flow}/g`);
    assert.equal(asked.message, "drop table?");
    const wrong = asked.hash.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    await assert.rejects(call(c, "approve", { job: asked.job, hash: wrong }), { code: "stale" });
    await assert.rejects(call(c, "approve", { job: asked.job, hash: "abc" }), { code: "invalid" });
    await assert.rejects(call(c, "approve", { job: asked.job, hash: asked.hash, verdict: "maybe" }), { code: "invalid" });
    await assert.rejects(call(c, "approve", { hash: asked.hash }), { code: "invalid" });
    const yes = { code: "forbidden", message: new RegExp(`reeve approve ${flow}/g`) };
    await assert.rejects(call(c, "approve", { job: asked.job, hash: asked.hash }), yes);
    await assert.rejects(call(c, "approve", { job: asked.job, hash: asked.hash, verdict: "allow" }), yes);
    const done = await call(c, "approve", { question: asked.question, hash: asked.hash, verdict: "reject", reason: "no" });
    assert.equal(done.status, "rejected");
    assert.equal((await call(c, "wait", { target: flow, timeout_s: 60 })).state, "failed");
  });

  test(`${how}: logs come in pages that tell how to go on`, async () => {
    const c = await client(how);
    const { flow } = await call(c, "submit", { flow: { jobs: { talk: "seq 1 20000" } } });
    await call(c, "wait", { target: flow, timeout_s: 60 });
    const job = `${flow}/talk`;
    const tail = await call(c, "logs", { job });
    assert.equal(tail.text.length, 16384);
    assert.ok(tail.text.endsWith("\n20000\n"));
    assert.match(tail.more, /offset 0/);
    let text = "";
    let pages = 0;
    for (let offset = 0; offset !== undefined; pages++) {
      const page = await call(c, "logs", { job, offset, most: 65536 });
      assert.ok(page.text.length <= 65536);
      text += page.text;
      offset = page.next_offset;
    }
    assert.equal(pages, 2);
    assert.equal(text, Array.from({ length: 20000 }, (_, i) => `${i + 1}\n`).join(""));
    assert.equal((await call(c, "logs", { job, tail: 6 })).text, "20000\n");
    await assert.rejects(call(c, "logs", { job, most: 1_000_000 }), { code: "invalid" });
    await assert.rejects(call(c, "logs", { job: "f1zzz/nobody" }), { code: "not_found" });
  });

  test(`${how}: items of foreach jobs are counted, listed and found when they failed`, async () => {
    const c = await client(how);
    const jobs = {
      work: { foreach: ["a", "b", "c"], run: "test ${item} != b", retries: 0 },
      after: { run: "true", needs: "work" },
      never: { run: "true", requires: ["nobody-has-it"] },
    };
    const { flow } = await call(c, "submit", { flow: { name: `${how}-items`, jobs } });
    await call(c, "wait", { target: `${flow}/work`, timeout_s: 60 });
    const all = Object.fromEntries((await call(c, "list", { flow })).jobs.map((one) => [one.job, one]));
    assert.deepEqual(Object.keys(all).sort(), [`${flow}/after`, `${flow}/never`, `${flow}/work`]);
    assert.equal(all[`${flow}/work`].items, 3);
    assert.equal(all[`${flow}/work`].items_failed, 1);
    assert.match(all[`${flow}/never`].why, /requires: nobody-has-it; nearest: .* lacks nobody-has-it/);
    const items = (await call(c, "list", { flow, items_of: "work" })).jobs.map((one) => one.job);
    assert.deepEqual(items, [0, 1, 2].map((i) => `${flow}/work[${i}]`));
    const failed = (await call(c, "list", { flow, states: ["failed"] })).jobs.map((one) => one.job);
    assert.deepEqual(failed, [`${flow}/work`, `${flow}/work[1]`]);
    const upstream = (await call(c, "list", { flow, states: ["upstream_failed"] })).jobs.map((one) => one.job);
    assert.deepEqual(upstream, [`${flow}/after`]);
    const shown = await call(c, "show", { target: flow });
    assert.deepEqual(shown.jobs_by_state, { ready: 1, failed: 1, upstream_failed: 1 });
    assert.match((await call(c, "why", { job: `${flow}/work[1]` })).reason, /failed, exit code 1/);
    await call(c, "cancel", { target: flow });
  });

  test(`${how}: lists come in pages`, async () => {
    const c = await client(how);
    const name = `${how}-listed`;
    for (let i = 0; i < 5; i++) await call(c, "submit", { flow: { name, labels: { lot: how }, jobs: { a: "true" } } });
    const seen = new Set();
    for (let cursor; ; ) {
      const page = await call(c, "list", { labels: { lot: how }, most: 2, ...(cursor ? { cursor } : {}) });
      assert.ok(page.flows.length <= 2);
      for (const one of page.flows) seen.add(one.flow);
      cursor = page.cursor;
      if (!cursor) break;
    }
    assert.equal(seen.size, 5);
    await assert.rejects(call(c, "list", { cursor: "mine" }), { code: "invalid" });
    await assert.rejects(call(c, "list", { states: "running" }), { code: "invalid", message: /list of texts/ });
    await assert.rejects(call(c, "show", { target: "f1zzz" }), { code: "not_found" });
    await assert.rejects(call(c, "schedule_run", { schedule: "nothing" }), { code: "not_found" });
    const deployed = async (run) => {
      const { flow } = await call(c, "submit", { flow: { jobs: { deploy: { service: { run, name: `${how}-svc` } } } } });
      assert.equal((await call(c, "wait", { target: flow, timeout_s: 60 })).state, "succeeded");
    };
    await deployed("exec sleep 1000");
    await assert.rejects(call(c, "rollback", { service: `${how}-svc` }), { code: "wrong_state", message: /no earlier version/ });
    await deployed("exec sleep 2000");
    const back = await call(c, "rollback", { service: `${how}-svc` });
    assert.equal((await call(c, "wait", { target: back.flow, timeout_s: 60 })).state, "succeeded");
    const [service] = (await call(c, "services", { name: `${how}-svc` })).services;
    assert.equal(service.version, 3);
    assert.deepEqual(service.versions.map((one) => [one.version, one.state]), [[3, "current"], [2, "retired"], [1, "retired"]]);
    assert.ok((await call(c, "services")).services.some((one) => one.service === `${how}-svc` && one.healthy));
    await assert.rejects(call(c, "rollback", { service: "nothing" }), { code: "not_found" });
    await assert.rejects(call(c, "services", { name: "nothing" }), { code: "not_found" });
    await assert.rejects(call(c, "rollback", { service: `${how}-svc`, version: 9 }), { code: "not_found", message: /remembers 1 to 3/ });
    const { workers } = await call(c, "workers");
    assert.equal(workers.length, 1);
    assert.equal(workers[0].attached, true);
  });

  test(`${how}: who asks for it hears how far a flow is`, async () => {
    const c = await client(how);
    const { flow } = await call(c, "submit", { flow: { jobs: { a: "true", b: { sleep: "2500ms" } } } });
    const heard = [];
    const got = await call(c, "wait", { target: flow, timeout_s: 60 }, { onprogress: (p) => heard.push(p) });
    assert.equal(got.state, "succeeded");
    assert.ok(heard.length >= 1, "something was heard");
    assert.ok(heard.every((p) => p.total === 2));
    assert.equal(heard.at(-1).progress, 1);
    assert.deepEqual(c.noise, []);
  });

  test(`${how}: a call that is cancelled is not answered, and the next one is`, async () => {
    const c = await client(how);
    const { flow } = await call(c, "submit", { flow: { jobs: { g: { gate: { message: "?" } } } } });
    const stop = new AbortController();
    const waiting = call(c, "wait", { target: flow, timeout_s: 300 }, { signal: stop.signal });
    await call(c, "show", { target: flow }); // the call is under way by now, or will be cancelled as it comes
    stop.abort("enough");
    await assert.rejects(waiting, /enough/);
    assert.equal((await call(c, "show", { target: flow })).state, "running");
    await call(c, "cancel", { target: flow });
    assert.deepEqual(c.noise, []);
  });

  test(`${how}: what failed is tried again, started again, or dropped`, async () => {
    const c = await client(how);
    const bad = { run: "exit 3", retries: 0 };
    const { flow } = await call(c, "submit", { flow: { name: `${how}-bad`, jobs: { good: "true", bad, worse: bad } } });
    assert.equal((await call(c, "wait", { target: flow, timeout_s: 60 })).state, "failed");
    const dead = async () => (await call(c, "list", { dead: true, flow })).jobs.map((one) => one.job.split("/")[1]).sort();
    assert.deepEqual(await dead(), ["bad", "worse"]);
    assert.equal((await call(c, "retry", { target: `${flow}/bad`, reason: "once more" })).status, "retried");
    await call(c, "wait", { target: flow, timeout_s: 60 });
    assert.equal((await call(c, "show", { target: `${flow}/bad` })).attempts.length, 2);
    assert.equal((await call(c, "rerun", { target: flow })).status, "started again");
    await call(c, "wait", { target: flow, timeout_s: 60 });
    assert.equal((await call(c, "show", { target: `${flow}/good` })).attempts.length, 1);
    assert.equal((await call(c, "discard", { target: `${flow}/bad` })).target, `${flow}/bad`);
    assert.deepEqual(await dead(), ["worse"]);
    await assert.rejects(call(c, "retry", { target: `${flow}/good` }), { code: "wrong_state" });
    await assert.rejects(call(c, "retry", { target: "f1zzz/nobody" }), { code: "not_found" });
    await assert.rejects(call(c, "rerun", { target: "f1zzz" }), { code: "not_found" });
    await assert.rejects(call(c, "discard", {}), { code: "invalid", message: /needs `target`/ });
  });

  test(`${how}: flows and pools pause and resume`, async () => {
    const c = await client(how);
    const { flow } = await call(c, "submit", { flow: { jobs: { g: { gate: { message: "?" } }, after: { run: "true", needs: "g" } } } });
    assert.equal((await call(c, "pause", { name: flow })).status, "paused");
    assert.equal((await call(c, "show", { target: flow })).paused, true);
    await approve(await server(), `${flow}/g`);
    assert.match((await call(c, "why", { job: `${flow}/after` })).code, /paused/);
    assert.equal((await call(c, "resume", { name: flow })).status, "resumed");
    assert.equal((await call(c, "wait", { target: flow, timeout_s: 60 })).state, "succeeded");
    assert.equal((await call(c, "pause", { name: `${how}-pool`, scope: "pool" })).status, "paused");
    assert.equal((await call(c, "resume", { name: `${how}-pool`, scope: "pool" })).status, "resumed");
    await assert.rejects(call(c, "pause", { name: flow, scope: "job" }), { code: "invalid", message: /flow, pool or tenant/ });
    await assert.rejects(call(c, "pause", { name: "f1zzz" }), { code: "not_found" });
    await assert.rejects(call(c, "resume", {}), { code: "invalid" });
  });

  test(`${how}: files that a job left are listed and read in pages`, async () => {
    const c = await client(how);
    const make = "seq 1 5000 > rows.txt; printf '\\377\\000' > raw.bin; : > empty; for i in $(seq 9); do printf 'ü'; done > umlauts";
    const artifacts = ["rows.txt", "raw.bin", "empty", "umlauts"];
    const { flow } = await call(c, "submit", { flow: { jobs: { make: { run: make, artifacts }, bare: "true" } } });
    await call(c, "wait", { target: flow, timeout_s: 60 });
    const job = `${flow}/make`;
    const listed = (await call(c, "artifacts", { job })).artifacts;
    assert.deepEqual(Object.fromEntries(listed.map((one) => [one.name, one.bytes])), { "rows.txt": 23893, "raw.bin": 2, empty: 0, umlauts: 18 });
    assert.match(listed[0].hash, /^[0-9a-f]{64}$/);
    const first = await call(c, "artifact", { job, name: "rows.txt" });
    assert.equal(first.text.length, 16384);
    const rest = await call(c, "artifact", { job, name: "rows.txt", offset: first.next_offset });
    assert.equal(first.text + rest.text, Array.from({ length: 5000 }, (_, i) => `${i + 1}\n`).join(""));
    assert.equal(rest.next_offset, undefined);
    assert.equal((await call(c, "artifact", { job, name: "raw.bin" })).base64, "/wA=");
    assert.equal((await call(c, "artifact", { job, name: "empty" })).text, "");
    const cut = await call(c, "artifact", { job, name: "umlauts", most: 5 }); // never through a character
    assert.deepEqual([cut.text, cut.next_offset], ["üü", 4]);
    assert.deepEqual((await call(c, "artifacts", { job: `${flow}/bare` })).artifacts, []);
    await assert.rejects(call(c, "artifact", { job, name: "nothing" }), { code: "not_found", message: /`artifacts` lists/ });
    await assert.rejects(call(c, "artifact", { job, name: "empty", offset: 1 }), { code: "invalid" });
    await assert.rejects(call(c, "artifact", { job, name: "empty", most: 1_000_000 }), { code: "invalid" });
    await assert.rejects(call(c, "artifacts", { job: "f1zzz/nobody" }), { code: "not_found" });
  });

  test(`${how}: schedules are set, listed, changed and removed`, async () => {
    const c = await client(how);
    const name = `${how}-nightly`;
    const flow = { name, params: { word: "x" }, schedule: { cron: "0 6 * * *", zone: "Europe/Berlin" }, jobs: { a: "echo ${params.word}" } };
    const set = await call(c, "schedule", { flow, params: { word: "y" } });
    assert.equal(set.schedules[0].schedule, name);
    assert.equal(set.schedules[0].next.length, 3);
    assert.equal((await call(c, "schedule_change", { name, action: "pause" })).status, "paused");
    const one = async () => (await call(c, "schedules", { name })).schedules[0];
    assert.equal((await one()).paused, true);
    await call(c, "schedule_change", { name, action: "resume" });
    assert.equal((await one()).paused, false);
    const days = { since: "2026-03-01T00:00:00Z", until: "2026-03-02T00:00:00Z" };
    assert.equal((await call(c, "schedule_change", { name, action: "backfill", ...days })).status, "backfill started");
    await assert.rejects(call(c, "schedule_change", { name, action: "backfill" }), { code: "invalid" });
    await assert.rejects(call(c, "schedule_change", { name, action: "backfill", since: "soon" }), { code: "invalid", message: /times like/ });
    await assert.rejects(call(c, "schedule_change", { name, action: "forget" }), { code: "invalid", message: /pause, resume, remove/ });
    await call(c, "schedule_change", { name, action: "remove" });
    assert.equal(await one(), undefined);
    await assert.rejects(call(c, "schedule_change", { name, action: "pause" }), { code: "not_found" });
    await assert.rejects(call(c, "schedule", { flow: { name, jobs: { a: "true" } } }), { code: "invalid", message: /no `schedule`/ });
    const wrong = { ...flow, schedule: { cron: "61 * * * *" } };
    await assert.rejects(call(c, "schedule", { flow: wrong }), { code: "invalid", message: /minute `61`/ });
    const workdays = { ...flow, schedule: { cron: "0 6 * * *", calendar: { weekdays: "mon-fri", not: ["2026-12-25"] } } };
    assert.equal((await call(c, "schedule", { flow: workdays })).schedules[0].next.length, 3);
    const filed = { ...flow, schedule: { cron: "0 6 * * *", calendar: "days.ics" } };
    await assert.rejects(call(c, "schedule", { flow: filed }), { message: /list the days/ });
    await call(c, "schedule_change", { name, action: "remove" });
  });

  test(`${how}: a key of the store starts a schedule`, async () => {
    const c = await client(how);
    const name = `${how}-keyed`;
    const flow = { name, schedule: { on: { key: `${name}/*`, when: ["set", "deleted"] } }, jobs: { a: "echo ${trigger.key}" } };
    const set = await call(c, "schedule", { flow });
    assert.match(set.schedules[0].when, /key .*; when set, deleted/);
    assert.match(set.schedules[0].reason, /has not changed/);
    const run = await call(c, "schedule_run", { schedule: name, key: `${name}/x` });
    assert.equal((await call(c, "wait", { target: run.flow, timeout_s: 60 })).state, "succeeded");
    assert.match((await call(c, "logs", { job: `${run.flow}/a` })).text, new RegExp(`${name}/x`));
    await call(c, "schedule_change", { name, action: "remove" });
    await assert.rejects(call(c, "schedule", { flow: { ...flow, schedule: { on: "k", zone: "Europe/Berlin" } } }), { code: "invalid", message: /key starts/ });
  });

  test(`${how}: a worker is drained and takes jobs again`, async () => {
    const c = await client(how);
    const { worker } = (await call(c, "workers")).workers[0];
    assert.equal((await call(c, "drain", { worker })).status, "draining");
    assert.equal((await call(c, "workers")).workers[0].draining, true);
    assert.equal((await call(c, "drain", { worker, undo: true })).status, "takes jobs");
    await assert.rejects(call(c, "drain", { worker: "nobody" }), { code: "not_found" });
  });

  test(`${how}: a flow as a text is refused with what to do`, async () => {
    const c = await client(how);
    for (const name of ["plan", "submit", "schedule"]) {
      const quoted = call(c, name, { flow: "jobs:\n  a: {run: true}\n" });
      await assert.rejects(quoted, { code: "invalid", message: /not a text: write it as JSON without quotes.*reeve submit FILE/ });
    }
  });
}
