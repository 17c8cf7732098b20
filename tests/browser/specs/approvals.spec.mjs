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
  await page.locator(".decision .primary:enabled").waitFor();
  const [asked] = (await (await reeve.api("/questions")).json()).questions.filter((each) => each.job === `${flow}/ok`);
  // a request that the page waits for, and the click right behind it: no event can come between
  await page.evaluate(async ({ number, hash }) => {
    const first = new XMLHttpRequest();
    first.open("POST", `/api/v1/questions/${number}/verdict`, false);
    first.setRequestHeader("content-type", "application/json");
    first.setRequestHeader("reeve-csrf", localStorage.getItem("reeve.csrf") ?? "");
    first.send(JSON.stringify({ verdict: "reject", hash }));
    document.querySelector(".decision .primary").click();
  }, { number: asked.question, hash: asked.hash });
  await page.getByRole("alert").filter({ hasText: `Your decision on ${flow}/ok was not taken` }).waitFor();
  assert.equal((await reeve.ended(`${flow}/ok`)).state, "denied");
});

spec("a second click right after the first decides nothing else", async ({ open, fresh }) => {
  const reeve = await fresh();
  const first = await reeve.submit(gate("The first?"));
  const second = await reeve.submit(gate("The second?"));
  const page = await open("/approvals", { reeve });
  const approve = page.getByRole("button", { name: "Approve" });
  await question(page, "The first?").waitFor();
  await page.locator(".decision .primary:enabled").waitFor();
  const { x, y, width, height } = await approve.boundingBox();
  const click = () => page.mouse.click(x + width / 2, y + height / 2);
  await click();
  await page.waitForTimeout(350); // the hand of a person, not a wait for something
  await click();
  await page.getByText("You approved this.").waitFor();
  assert.equal((await reeve.ended(first)).state, "succeeded");
  assert.equal((await reeve.show(`${second}/ok`)).state, "held");
  await page.getByRole("link", { name: "Next question" }).click();
  await question(page, "The second?").waitFor();
  assert.ok(await approve.isDisabled(), "a question that has just appeared takes no click");
  await approve.click();
  assert.equal((await reeve.ended(second)).state, "succeeded");
  await page.getByText("Nothing else waits for a decision.").waitFor();
});

spec("what someone else answers stays in sight until another question is chosen", async ({ open, fresh }) => {
  const reeve = await fresh();
  const first = await reeve.submit(gate("Whose turn?"));
  await reeve.submit(gate("And then?"));
  const page = await open("/approvals", { reeve });
  await question(page, "Whose turn?").waitFor();
  await reeve.cli("approve", `${first}/ok`, "--yes");
  await page.getByText("answered by someone else").waitFor();
  await question(page, "Whose turn?").getByText("succeeded").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
  await page.getByRole("link", { name: /And then\?/ }).click();
  await page.getByRole("button", { name: "Approve" }).waitFor();
});

spec("the node of a gate leads to its own question", async ({ open, fresh }) => {
  const reeve = await fresh();
  await reeve.submit(gate("The oldest?"));
  const flow = await reeve.submit(gate("Its own?"));
  const page = await open(`/flows/${flow}`, { reeve });
  await page.getByRole("searchbox", { name: "Find a job" }).fill("ok");
  await page.getByRole("searchbox", { name: "Find a job" }).press("Enter");
  await page.getByRole("link", { name: "Approve…" }).click();
  await question(page, "Its own?").getByRole("button", { name: "Approve" }).waitFor();
});

spec("what the jobs before a gate gave is shown with the question", async ({ reeve, open }) => {
  const flow = await reeve.submit({
    jobs: {
      build: { run: "echo '{\"accuracy\": 0.93}' > \"$REEVE_OUTPUT\"; echo x > report.txt", artifacts: ["report.txt"] },
      ok: { needs: "build", gate: { message: "Good enough?" } },
    },
  });
  const page = await open(`/approvals?job=${flow}/ok`);
  const results = page.getByRole("region", { name: "Results so far" });
  await results.getByText('"accuracy": 0.93').waitFor();
  await results.getByRole("link", { name: "report.txt" }).waitFor();
  await reeve.cli("cancel", flow);
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
