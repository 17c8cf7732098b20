// Approvals: what is shown is what is decided on.
import assert from "node:assert/strict";

import { spec } from "../lib/spec.mjs";

const gate = (message, more = {}) => ({ name: "asks", jobs: { ok: { gate: { message, ...more } }, then: { needs: "ok", noop: true } } });
const question = (page, message) => page.locator(".question").filter({ hasText: message });

spec("what is asked is shown with its hash, approved with a note, and goes on", async ({ reeve, open }) => {
  const flow = await reeve.submit(gate("Ship it?", { timeout: "2d" }));
  const page = await open(`/approvals?job=${flow}/ok`);
  await question(page, "Ship it?").waitFor();
  const [asked] = (await (await reeve.api("/questions")).json()).questions.filter((each) => each.job === `${flow}/ok`);
  await page.getByText(asked.hash).first().waitFor();
  await page.getByText(/denied in 1 d 23 h/).waitFor();
  await page.getByLabel(/Note/).fill("looks right");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText(`${flow}/ok is approved`).waitFor();
  assert.equal((await reeve.ended(flow)).state, "succeeded");
});

spec("a rejection ends the job as denied", async ({ reeve, open }) => {
  const flow = await reeve.submit(gate("Really?"));
  const page = await open(`/approvals?job=${flow}/ok`);
  await question(page, "Really?").waitFor();
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByText(`${flow}/ok is rejected`).waitFor();
  assert.equal((await reeve.ended(`${flow}/ok`)).state, "denied");
});

spec("the rendered command that waits for approval is shown completely", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "guarded", params: { n: 3 }, jobs: { drop: { run: ["echo", "drop ${params.n} tables"], env: { WHERE: "production" }, approval: {} } } });
  const page = await open(`/approvals?job=${flow}/drop`);
  await page.getByText("echo 'drop 3 tables'").waitFor();
  await page.getByText("WHERE=production", { exact: true }).waitFor();
  await page.getByText("The exact spec").click();
  await page.getByText('"drop 3 tables"').waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  assert.equal((await reeve.ended(flow)).state, "succeeded");
  assert.equal(await reeve.cli("logs", `${flow}/drop`), "drop 3 tables\n");
});

spec("a question that comes while the page is open appears, and goes when someone else answers", async ({ reeve, open }) => {
  const page = await open("/approvals");
  const flow = await reeve.submit(gate("While you look?"));
  await page.getByRole("list", { name: "Open questions" }).getByText("While you look?").waitFor();
  await reeve.cli("approve", `${flow}/ok`, "--yes");
  await page.getByRole("list", { name: "Open questions" }).getByText("While you look?").waitFor({ state: "detached" });
});

spec("a decision about what was answered meanwhile is not taken, and that is explained", async ({ reeve, open }) => {
  const flow = await reeve.submit(gate("Still open?"));
  const page = await open(`/approvals?job=${flow}/ok`, { allow: [/status of 40[49]/] });
  await question(page, "Still open?").waitFor();
  const [asked] = (await (await reeve.api("/questions")).json()).questions.filter((each) => each.job === `${flow}/ok`);
  // a request that the page waits for, and the click right behind it: no event can come between
  await page.evaluate(async ({ number, hash }) => {
    const { csrf } = await (await fetch("/api/v1/session")).json();
    const first = new XMLHttpRequest();
    first.open("POST", `/api/v1/questions/${number}/verdict`, false);
    first.setRequestHeader("content-type", "application/json");
    first.setRequestHeader("reeve-csrf", csrf);
    first.send(JSON.stringify({ verdict: "deny", hash }));
    document.querySelector(".decision .primary").click();
  }, { number: asked.question, hash: asked.hash });
  await page.getByRole("alert").filter({ hasText: `Your decision on ${flow}/ok was not taken` }).waitFor();
  assert.equal((await reeve.ended(`${flow}/ok`)).state, "denied");
});

spec("a vote of a quorum is counted", async ({ reeve, open }) => {
  const flow = await reeve.submit(gate("Two of you?", { quorum: 2 }));
  const page = await open(`/approvals?job=${flow}/ok`);
  await page.getByText("0 of 2").waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("1 of 2").waitFor();
  const [asked] = (await reeve.json("approve")).filter((each) => each.job === `${flow}/ok`);
  assert.equal(asked.votes, 1);
  await reeve.cli("cancel", flow);
});

spec("nothing to decide is said in a sentence", async ({ open, fresh }) => {
  const page = await open("/approvals", { reeve: await fresh() });
  await page.getByText("Nothing waits for a decision").waitFor();
});
