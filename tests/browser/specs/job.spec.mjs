// The Job page: state and why, attempts, the log, what it gave and runs, and every action.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import { spec } from "../lib/spec.mjs";

const badge = (page) => page.locator(".job-facts .badge");
const logLines = (page) => page.locator(".log-line");
const confirmed = (page, name) => page.getByRole("dialog").getByRole("button", { name }).click();

spec("a job shows its state, its attempts and its result", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "shown", jobs: { once: { retries: 1, backoff: { base: "10ms", cap: "10ms", jitter: "0" }, run: 'test "$REEVE_ATTEMPT" = 2 || exit 3; echo \'{"rows": 7}\' > "$REEVE_OUTPUT"' } } });
  await reeve.ended(flow);
  const page = await open(`/jobs/${flow}/once`);
  await page.locator(".job-facts [data-state=succeeded]").waitFor();
  const rows = page.getByRole("table", { name: "Attempts" }).locator("tbody tr");
  assert.equal(await rows.count(), 2);
  assert.match(await rows.nth(1).innerText(), /exit 3/);
  await rows.nth(1).getByRole("link", { name: "#1" }).click();
  await page.getByRole("link", { name: "Log of #1" }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get("attempt"), "1");
  await page.getByRole("link", { name: "Result and artifacts" }).click();
  await page.locator(".result").waitFor();
  assert.deepEqual(JSON.parse(await page.locator(".result").innerText()), { rows: 7 });
  await page.reload();
  await page.locator(".result").waitFor();
});

spec("the log has colours, search and a download", async ({ reeve, open }) => {
  const run = "printf '\\033[1;31mred\\033[0m plain\\nprogress 1%%\\rprogress 100%%\\nneedle one\\nNeedle two needle\\n'";
  const flow = await reeve.submit({ name: "log", jobs: { speak: { run } } });
  await reeve.ended(flow);
  const page = await open(`/jobs/${flow}/speak`);
  await logLines(page).first().waitFor();
  assert.deepEqual(await logLines(page).allInnerTexts(), ["red plain", "progress 100%", "needle one", "Needle two needle"]);
  const red = page.locator(".log-line .fg-1.bold");
  assert.equal(await red.innerText(), "red");
  await page.getByRole("searchbox", { name: "Search the log" }).fill("needle");
  await page.getByText("1 of 3").waitFor();
  await page.getByRole("button", { name: "Next match" }).click();
  await page.getByText("2 of 3").waitFor();
  await page.getByRole("button", { name: "Previous match" }).click();
  await page.getByRole("button", { name: "Previous match" }).click();
  await page.getByText("3 of 3").waitFor();
  assert.equal(await page.locator(".log-line mark.current").innerText(), "needle");
  assert.equal(new URL(page.url()).searchParams.get("find"), "needle");
  await page.getByLabel("Wrap").uncheck();
  await page.locator(".log-box:not(.wrap)").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
  assert.equal(await readFile(await download.path(), "utf8"), await reeve.cli("logs", `${flow}/speak`));
});

spec("a log tells times and standard error, and a line has an address", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "two-streams", jobs: { speak: { run: "echo plain; sleep 0.3; echo wrong >&2; sleep 0.3; echo last" } } });
  await reeve.ended(flow);
  const page = await open(`/jobs/${flow}/speak`);
  const row = (text) => page.locator(".log-row", { hasText: text });
  await page.getByRole("heading", { level: 1 }).getByText("two-streams").waitFor();
  await row("wrong").and(page.locator("[data-stream=err]")).waitFor();
  assert.equal(await row("wrong").locator(".log-stream").innerText(), "!");
  assert.equal(await row("plain").getAttribute("data-stream"), "out");
  await page.getByLabel("Times").check();
  const times = await page.locator(".log-time").allInnerTexts();
  assert.equal(times.length, 3);
  for (const time of times) assert.match(time, /^\d\d:\d\d:\d\d\.\d{3}$/);
  assert.ok(times[0] < times[2]);
  await row("wrong").getByRole("link", { name: "Link to line 2" }).click();
  await page.locator(".log-row.linked", { hasText: "wrong" }).waitFor();
  assert.match(page.url(), /line=2/);
  await page.reload();
  await page.locator(".log-row.linked", { hasText: "wrong" }).waitFor();
  await page.getByText("3 lines").waitFor();
});

spec("the log of a job that runs comes as it is written, and stays at its end", async ({ reeve, open }) => {
  const run = "i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo line $i; done; until [ -f go ]; do sleep 0.1; done; echo the last line";
  const flow = await reeve.submit({ name: "live", jobs: { talk: { run, workdir: reeve.data } } });
  const page = await open(`/jobs/${flow}/talk`);
  await page.getByText("line 600", { exact: true }).waitFor();
  assert.equal(await page.getByText("line 1", { exact: true }).count(), 0, "only what is in sight is an element");
  await page.locator(".log-box").evaluate((box) => box.scrollTo(0, 0));
  await page.getByText("line 1", { exact: true }).waitFor();
  await page.getByRole("button", { name: "To the end" }).click();
  await page.getByText("line 600", { exact: true }).waitFor();
  await reeve.cli("run", "--", "touch", `${reeve.data}/go`);
  await page.getByText("the last line", { exact: true }).waitFor();
  await page.locator(".job-facts [data-state=succeeded]").waitFor();
});

spec("a log of 100 MB does not kill the page", async ({ reeve, open }) => {
  const run = "seq -f '2026-01-31 12:00:00 INFO request %.0f was served by the back end in no time, with a body of 12345 bytes' 1 1100000";
  const flow = await reeve.submit({ name: "long", jobs: { big: { run, log_limit: "200MiB" } } });
  assert.equal((await reeve.ended(`${flow}/big`)).state, "succeeded");
  const page = await open(`/jobs/${flow}/big`);
  await page.getByText("request 1100000 was").waitFor();
  await page.getByRole("button", { name: "Load all" }).click();
  await page.getByText("1,100,000 lines").waitFor({ timeout: 60_000 });
  await page.getByRole("searchbox", { name: "Search the log" }).fill("request 777777 ");
  await page.locator("mark.current").waitFor({ timeout: 60_000 });
  await page.getByText("1 of 1", { exact: true }).waitFor();
  assert.ok((await page.locator(".log-row").count()) < 200, "few rows are elements");
  const took = await page.locator(".log-box").evaluate(async (box) => {
    const began = performance.now();
    for (let step = 1; step <= 20; step++) {
      box.scrollTop = (box.scrollHeight * step) / 20;
      await new Promise(requestAnimationFrame);
    }
    return performance.now() - began;
  });
  assert.ok(took < 5000, `20 jumps took ${took} ms`);
}, { timeout: 180_000 });

spec("artifacts are downloaded as they were written", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "files", jobs: { make: { run: "printf 'a,b\\n1,2\\n' > table.csv", artifacts: ["table.csv"] } } });
  await reeve.ended(flow);
  const page = await open(`/jobs/${flow}/make?view=gave`);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "table.csv" }).click()]);
  assert.equal(await readFile(await download.path(), "utf8"), "a,b\n1,2\n");
});

spec("what a job runs is shown as it runs", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "spec", params: { who: "world" }, jobs: { hi: { run: ["echo", "hello ${params.who}"], env: { COLOUR: "blue" }, limits: { memory: "64MiB" } } } });
  const page = await open(`/jobs/${flow}/hi?view=runs`);
  await page.getByText("echo 'hello world'").first().waitFor();
  await page.getByText("COLOUR=blue").first().waitFor();
  await page.getByText("64.0 MiB").waitFor();
});

spec("a job says why it does not run, and links its neighbours", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "why", jobs: { first: { sleep: "1h" }, second: { needs: "first", noop: true } } });
  const page = await open(`/jobs/${flow}/second`);
  await page.locator(".why").waitFor();
  const [reason] = await reeve.json("why", `${flow}/second`);
  assert.ok((await page.locator(".why").innerText()).includes(reason.text));
  await page.getByRole("link", { name: "History and dependencies" }).click();
  await page.locator(".neighbours").getByRole("link", { name: `${flow}/first` }).click();
  await page.waitForURL(new RegExp(`/jobs/${flow}/first`));
  await page.getByRole("link", { name: "History and dependencies" }).click();
  await page.locator(".neighbours").getByRole("link", { name: `${flow}/second` }).waitFor();
  await page.getByRole("table", { name: "States" }).getByText("running").waitFor();
  await reeve.cli("cancel", flow);
});

spec("a job is cancelled, with a reason", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "stop", jobs: { nap: { sleep: "1h" } } });
  const page = await open(`/jobs/${flow}/nap`);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Reason").fill("not needed");
  await confirmed(page, "Cancel the job");
  await page.locator(".job-facts [data-state=cancelled]").waitFor();
  assert.equal((await reeve.ended(`${flow}/nap`)).state, "cancelled");
});

spec("a dead job is retried, then put away", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "dies", jobs: { bad: { run: "exit 9", retries: 0 } } });
  await reeve.ended(flow);
  const page = await open(`/jobs/${flow}/bad`);
  await badge(page).getByText("failed").waitFor();
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("table", { name: "Attempts" }).getByText("#2").waitFor();
  assert.equal((await reeve.ended(`${flow}/bad`)).attempt, 2);
  await page.getByRole("button", { name: "Discard" }).click();
  await confirmed(page, "Discard");
  await page.getByRole("button", { name: "Discard" }).waitFor({ state: "detached" });
  assert.equal((await reeve.json("dead")).some((job) => job.job === `${flow}/bad`), false);
});

spec("an external job is completed with an output", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "outside", jobs: { word: { external: { message: "say it", timeout: "1h" } } } });
  const page = await open(`/jobs/${flow}/word`);
  await page.getByRole("button", { name: "Complete…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/Output/).fill("{stars");
  await dialog.getByRole("button", { name: "Complete it" }).click();
  await dialog.getByText(/no JSON/).waitFor();
  await dialog.getByLabel(/Output/).fill('{"stars": 5}');
  await dialog.getByRole("button", { name: "Complete it" }).click();
  await page.locator(".job-facts [data-state=succeeded]").waitFor();
  const [shown] = [await (await reeve.api(`/jobs/${flow}/word`)).json()];
  assert.deepEqual(shown.result, { stars: 5 });
});

spec("a job that is not there is said to be so", async ({ open }) => {
  const page = await open("/jobs/f9zzzz/nothing", { allow: [/status of 404/] });
  await page.getByRole("alert").waitFor();
});
