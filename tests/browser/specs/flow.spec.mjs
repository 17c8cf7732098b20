import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { spec } from "../lib/spec.mjs";

const chain = { a: { noop: true }, b: { needs: "a", sleep: "1h" }, c: { needs: "b", noop: true } };
const canvas = (page) => page.locator(".graph-canvas");
const laidOut = (page) => page.locator(".graph-canvas[data-laid-out]").waitFor();
const legend = (page, state, count) =>
  page.getByRole("group", { name: "States" }).getByRole("button", { name: new RegExp(`${state} ${count}$`) });
const card = (page) => page.locator(".graph-card");

/** How many pixels of the canvas have the colour of this variable of the style. */
const pixels = (page, name) =>
  page.evaluate((variable) => {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(variable);
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
    const shown = document.querySelector(".graph-canvas");
    const { data } = shown.getContext("2d").getImageData(0, 0, shown.width, shown.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b) count++;
    return count;
  }, `--${name}`);

async function until(condition, what) {
  const by = Date.now() + 15_000;
  while (!(await condition())) assert.ok(Date.now() < by, what);
}

spec("a flow is seen as it runs, and a reload in the middle shows the same", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "live-one", jobs: { ...chain, other: { sleep: "1h" } } });
  const page = await open(`/flows/${flow}`);
  await laidOut(page);
  await legend(page, "running", 2).waitFor();
  await reeve.cli("cancel", `${flow}/other`); // the flow goes on: only events of the job tell of it
  await legend(page, "cancelled", 1).waitFor();
  await legend(page, "running", 1).waitFor();
  await page.reload();
  await laidOut(page);
  await legend(page, "running", 1).waitFor();
  await legend(page, "waiting", 1).waitFor();
  await until(() => pixels(page, "state-running"), "the running job is blue");
  await reeve.cli("cancel", flow);
  await legend(page, "cancelled", 3).waitFor();
  await page.locator(".flow-head [data-state=cancelled]").waitFor();
});

spec("the card says why a job is in its state, and by which rule", async ({ reeve, open }) => {
  const flow = await reeve.submit({
    jobs: { ...chain, gpu: { run: "true", pool: "no-such-pool" }, again: { run: "exit 1", retries: 3, backoff: "1h" } },
  });
  const page = await open(`/flows/${flow}`);
  await laidOut(page);
  const chosen = async (name) => {
    await page.getByRole("searchbox", { name: "Find a job" }).fill(name);
    await page.getByRole("searchbox", { name: "Find a job" }).press("Enter");
    await card(page).locator("header", { hasText: name }).waitFor();
  };
  await chosen("c");
  await card(page).getByText("0 of 1 dependency done; left: b (running)").waitFor();
  await card(page).getByText("Kahn's rule.").waitFor();
  await chosen("b");
  await card(page)
    .getByText(/^Running on .* for/)
    .waitFor();
  await card(page).getByText("Lease.").waitFor();
  await chosen("gpu");
  const why = await (await reeve.api(`/jobs/${flow}/gpu/why`)).json();
  await card(page).getByText(why.text, { exact: false }).first().waitFor();
  await chosen("again");
  await card(page)
    .getByText(/^Retry due in/)
    .waitFor();
  assert.match(page.url(), /job=again/);
  // Searched for, it stands in the middle: pointing at it and a click lead to its page.
  const box = await canvas(page).boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForURL(`**/jobs/${flow}/again`);
  await reeve.cli("cancel", flow);
});

spec("the graph is walked by keys", async ({ reeve, open }) => {
  const flow = await reeve.submit({ jobs: { a: { noop: true }, b: { needs: "a", noop: true }, c: { needs: "a", noop: true } } });
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}`);
  await laidOut(page);
  await canvas(page).focus();
  await page.keyboard.press("ArrowRight");
  await card(page).locator("header", { hasText: "a" }).waitFor();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/job=(b|c)/);
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL(/job=a/);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/jobs/${flow}/a`);
});

spec("pause, resume, cancel and rerun ask first, and do it", async ({ reeve, open }) => {
  const flow = await reeve.submit({ jobs: chain });
  const page = await open(`/flows/${flow}`);
  const press = async (name) => {
    await page.locator(".flow-head").getByRole("button", { name }).click();
    await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  };
  await page.locator(".flow-head").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave it" }).click();
  assert.equal((await reeve.show(flow)).state, "running");
  await press("Pause");
  await page.getByText("⏸ paused").waitFor();
  assert.equal((await reeve.show(flow)).paused, true);
  await press("Resume");
  await page.getByText("⏸ paused").waitFor({ state: "detached" });
  assert.notEqual((await reeve.show(flow)).paused, true);
  await press("Cancel");
  await page.locator(".flow-head [data-state=cancelled]").waitFor();
  assert.equal((await reeve.ended(flow)).state, "cancelled");
  await press("Rerun");
  await page.locator(".flow-head [data-state=running]").waitFor();
  assert.equal((await reeve.show(flow)).state, "running");
  await reeve.cli("cancel", flow);
});

spec("list and timeline show the same jobs; the view is in the address", async ({ reeve, open }) => {
  const flow = await reeve.submit({
    jobs: { one: { run: "true" }, two: { needs: "one", run: "exit 1", retries: 0 }, three: { needs: "two", run: "true" } },
  });
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}`);
  await page.getByRole("tab", { name: "List" }).click();
  const table = page.getByRole("table", { name: "Jobs" });
  await table.getByRole("link", { name: "three" }).waitFor();
  await legend(page, "upstream failed", 1).waitFor(); // it never ran: not the same as the one that did
  await legend(page, "^failed", 1).click();
  await table.getByRole("link", { name: "one" }).waitFor({ state: "detached" });
  await page.reload();
  await table.getByRole("link", { name: "two" }).waitFor();
  assert.equal(await table.locator(".job-row:not(.rows-head)").count(), 1);
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.getByRole("img", { name: /^Timeline of 3 jobs/ }).waitFor(); // also the one that never began
  await page.getByRole("button", { name: "By worker" }).click();
  await page.getByRole("img", { name: /^Timeline of 1 slots/ }).waitFor();
  assert.match(page.url(), /rows=workers/);
  assert.match(page.url(), /view=timeline/);
});

spec("a flow shows the last runs of its name", async ({ reeve, open }) => {
  const flows = [];
  for (const run of ["true", "exit 1"]) flows.push(await reeve.submit({ name: "twice", jobs: { a: { run, retries: 0 } } }));
  for (const flow of flows) await reeve.ended(flow);
  const page = await open(`/flows/${flows[1]}`);
  await page.locator(".flow-facts .runs a.state-failed").waitFor();
  await page.locator(".flow-facts .runs a.state-succeeded").click();
  await page.waitForURL(new RegExp(`/flows/${flows[0]}`));
});

spec("the critical path is drawn when asked for", async ({ reeve, open }) => {
  const flow = await reeve.submit({ jobs: { a: { run: "true" }, b: { needs: "a", run: "true" } } });
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}`);
  await laidOut(page);
  assert.equal(await pixels(page, "warn"), 0);
  await page.getByRole("button", { name: "Critical path" }).click();
  await until(() => pixels(page, "warn"), "the path is marked");
  assert.match(page.url(), /path=1/);
});

spec("items of a foreach job are unfolded and folded", async ({ reeve, open }) => {
  const flow = await reeve.submit({
    jobs: { list: { noop: true }, map: { needs: "list", foreach: [1, 2, 3, 4, 5], run: "true" }, end: { needs: "map", noop: true } },
  });
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}?job=map`);
  await laidOut(page);
  await legend(page, "succeeded", 3).waitFor();
  await card(page).getByRole("button", { name: "Unfold 5 items" }).click();
  await legend(page, "succeeded", 8).waitFor();
  assert.match(page.url(), /unfold=map/);
  await page.reload(); // the address keeps it
  await legend(page, "succeeded", 8).waitFor();
  await card(page).getByRole("button", { name: "Fold items" }).click();
  await legend(page, "succeeded", 3).waitFor();
});

spec("a folded foreach job shows that items of it failed, and its page lists them", async ({ reeve, open }) => {
  const flow = await reeve.submit({
    jobs: { map: { foreach: { in: [1, 2, 3], allow: 1 }, run: "test ${item} != 2", retries: 0 } },
  });
  assert.equal((await reeve.ended(flow)).state, "succeeded");
  const page = await open(`/flows/${flow}`);
  await laidOut(page);
  await until(() => pixels(page, "state-failed"), "a part of the node is red");
  await page.goto(`/jobs/${flow}/map`);
  await page.getByText("2 of 3 ok, 1 failed").waitFor();
  const items = page.getByRole("table", { name: "Items" });
  await items.getByRole("link", { name: `${flow}/map[2]` }).waitFor();
  await page.getByLabel("State").selectOption("failed");
  await items.getByRole("link", { name: `${flow}/map[2]` }).waitFor({ state: "detached" });
  await items.getByRole("link", { name: `${flow}/map[1]` }).waitFor();
});

spec("where the graph is looked at is in the address", async ({ reeve, open }) => {
  const flow = await reeve.submit({ jobs: { a: { noop: true }, b: { needs: "a", noop: true } } });
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}`);
  await laidOut(page);
  const seen = () => pixels(page, "state-succeeded");
  await until(seen, "all of it is drawn");
  const before = await seen();
  await page.getByRole("button", { name: "Larger" }).click();
  await page.getByRole("button", { name: "Larger" }).click();
  await page.waitForURL(/zoom=/);
  await until(async () => (await seen()) > before, "it is larger");
  const larger = await seen();
  await page.reload();
  await laidOut(page);
  await until(async () => Math.abs((await seen()) - larger) < larger / 10, "and as large after a reload");
  await page.getByRole("button", { name: "Fit" }).click();
  await page.waitForURL((url) => !url.search.includes("zoom="));
});

spec("the log of a flow has the lines of all its jobs, in their order, and goes on", async ({ reeve, open }) => {
  const wait = `until [ -f "${reeve.data}/go-flow" ]; do sleep 0.1; done`;
  const flow = await reeve.submit({
    jobs: { first: { run: "echo alpha; echo beta >&2" }, second: { needs: "first", run: `echo gamma; ${wait}; echo delta` } },
  });
  const page = await open(`/flows/${flow}?view=log`);
  const lines = page.getByRole("table", { name: "Lines" }).locator(".flow-log-text");
  await lines.filter({ hasText: "gamma" }).waitFor();
  const texts = await lines.allInnerTexts();
  assert.deepEqual(texts.filter((text) => text !== "! beta"), ["alpha", "gamma"]);
  assert.ok(texts.includes("! beta"), "standard error is marked");
  await reeve.cli("run", "--", "touch", `${reeve.data}/go-flow`);
  await lines.filter({ hasText: "delta" }).waitFor();
  await page.getByRole("link", { name: "first" }).first().click();
  await page.waitForURL(new RegExp(`/jobs/${flow}/first`));
});

spec("a cascade lights one job after the other", async ({ reeve, open }) => {
  const jobs = { root: { run: "exit 1", retries: 0 } };
  for (let i = 1; i <= 12; i++) jobs[`n${i}`] = { needs: i === 1 ? "root" : `n${i - 1}`, noop: true };
  const flow = await reeve.submit({ jobs });
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}?job=root`, { motion: true });
  await laidOut(page);
  await until(() => pixels(page, "state-failed"), "all are red");
  await card(page).getByRole("button", { name: "Show cascade" }).click();
  const levels = new Set();
  await until(async () => {
    levels.add(await pixels(page, "state-waiting"));
    return levels.size >= 4;
  }, "fewer and fewer jobs are shown as they were before");
});

spec("the time slider goes back and forth through the flow", async ({ reeve, open }) => {
  const flow = await reeve.submit({ jobs: { a: { run: "true" }, b: { needs: "a", run: "true" } } });
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}`);
  await laidOut(page);
  await page.getByRole("button", { name: "Time slider" }).click();
  const slider = page.getByRole("slider", { name: "Events of the flow" });
  await page.locator(".slider-says", { hasText: /The flow is succeeded/ }).waitFor();
  await page.getByRole("button", { name: "To the beginning" }).click();
  await legend(page, "waiting", 2).waitFor();
  await page.getByText("You are looking at the past.").waitFor();
  const tale = await (await reeve.api(`/flows/${flow}/events`)).json();
  const events = tale.events.filter((event) => event.type === "job" || event.type === "flow");
  assert.equal(Number(await slider.getAttribute("max")), events.length);
  const isAt = (position) =>
    page.locator(".slider-says code", { hasText: new RegExp(`^${position.replace(".", "\\.")}$`) }).waitFor();
  for (const event of events) {
    await page.getByRole("button", { name: "One event forward" }).click();
    await isAt(event.position);
  }
  await legend(page, "succeeded", 2).waitFor();
  await page.getByRole("button", { name: "One event back" }).click();
  await page.getByRole("button", { name: "One event back" }).click();
  const { position } = events[events.length - 3];
  await isAt(position);
  await page.waitForURL((url) => url.searchParams.get("at") === position); // a little later: it follows the slider
  const said = await page.locator(".slider-event").textContent();
  await page.reload();
  await page.locator(".slider-event", { hasText: said }).waitFor();
  await page.getByRole("button", { name: "To the beginning" }).click();
  await page.getByLabel("Speed").selectOption("128");
  await page.getByRole("button", { name: "Play" }).click();
  await legend(page, "succeeded", 2).waitFor();
  await page.getByRole("button", { name: "Live", exact: true }).click();
  await page.getByText("You are looking at the past.").waitFor({ state: "detached" });
  await page.waitForURL((url) => !url.search.includes("at="));
});

spec(
  "ten thousand jobs are laid out in two seconds, and pan and zoom at 30 frames a second",
  async ({ fresh, open }) => {
    const reeve = await fresh();
    const jobs = {};
    let seed = 1;
    const random = () => (seed = (seed * 48271) % 2147483647) % 100;
    for (let layer = 0; layer < 100; layer++)
      for (let i = 0; i < 100; i++)
        jobs[`l${layer}-${i}`] =
          layer === 0 ? { noop: true } : { noop: true, needs: [...new Set([random(), random()])].map((k) => `l${layer - 1}-${k}`) };
    const flow = await reeve.submit({ name: "ten-thousand", jobs });
    await reeve.ended(flow);
    const page = await open(`/flows/${flow}`, { reeve });
    await canvas(page).and(page.locator("[data-laid-out]")).waitFor({ timeout: 30_000 });
    const tookMs = Number(await canvas(page).getAttribute("data-laid-out"));
    const rates = {};
    const box = await canvas(page).boundingBox();
    const middle = [box.x + box.width / 2, box.y + box.height / 2];
    /** Frames that the browser gave while the mouse did something, counted by the page's own requestAnimationFrame. */
    const measure = async (gesture) => {
      await page.evaluate(() => {
        window.frames_ = [];
        const tick = (time) => {
          window.frames_.push(time);
          window.frame_ = requestAnimationFrame(tick);
        };
        window.frame_ = requestAnimationFrame(tick);
      });
      await gesture();
      const [frames, ms] = await page.evaluate(() => {
        cancelAnimationFrame(window.frame_);
        return [window.frames_.length - 1, window.frames_.at(-1) - window.frames_[0]];
      });
      return Math.round((1000 * frames) / ms);
    };
    /** The best of a few: what else the machine does at the moment is not the page's doing. */
    const best = async (name, ...gestures) => {
      const most = gestures.map(() => 0);
      for (let turn = 0; turn < 3 && Math.min(...most) < 30; turn++)
        for (const [i, gesture] of gestures.entries()) most[i] = Math.max(most[i], await measure(gesture));
      rates[name] = Math.min(...most);
    };
    const pan = async () => {
      await page.mouse.move(...middle);
      await page.mouse.down();
      for (let i = 0; i < 60; i++) await page.mouse.move(middle[0] + 200 * Math.sin(i / 8), middle[1] + 80 * Math.cos(i / 8));
      await page.mouse.up();
    };
    const wheel = (by) => async () => {
      await page.mouse.move(...middle);
      for (let i = 0; i < 40; i++) await page.mouse.wheel(0, by);
    };
    await best("pan from afar", pan);
    await best("zoom in and out", wheel(-60), wheel(60));
    await wheel(-60)();
    await best("pan near", pan);
    console.log(
      `  layout ${tookMs} ms; frames/s: ${Object.entries(rates)
        .map(([name, rate]) => `${name} ${rate}`)
        .join(", ")}`,
    );
    assert.ok(tookMs < 2000, `laid out in ${tookMs} ms`);
    for (const [name, rate] of Object.entries(rates)) assert.ok(rate >= 30, `${name}: ${rate} frames/s`);
  },
  { timeout: 240_000, alone: true },
);

spec("a flow shows its parameters and its file, and runs again with others", async ({ reeve, open }) => {
  const text = 'name: etl\nparams:\n  day: mon # the day\n  size: {default: small, choices: [small, large]}\njobs:\n  a: {run: "echo ${params.day} ${params.size}"}\n';
  const file = join(await mkdtemp(join(tmpdir(), "reeve-")), "etl.yaml");
  await writeFile(file, text);
  const flow = await reeve.submit(file, "-p", "day=tue");
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}`);
  await page.locator(".flow-facts", { hasText: "day=tue" }).waitFor();
  await page.getByRole("tab", { name: "Definition" }).click();
  await page.locator(".definition-text").waitFor();
  await page.locator(".flow-facts", { hasText: "etl.yaml" }).waitFor();
  assert.equal(await page.locator(".definition-text").textContent(), text);
  await page.getByRole("button", { name: "Run again…" }).click();
  const dialog = page.getByRole("dialog");
  assert.equal(await dialog.getByLabel("day").inputValue(), "tue");
  await dialog.getByLabel("day").fill("sun");
  await dialog.getByLabel("size").selectOption("large");
  await dialog.getByRole("button", { name: "Run again" }).click();
  await page.locator(".flow-facts", { hasText: "day=sun size=large" }).waitFor();
  const again = new URL(page.url()).pathname.split("/")[2];
  assert.notEqual(again, flow);
  await reeve.ended(again);
  assert.equal(await reeve.cli("logs", `${again}/a`), "sun large\n");
  await page.getByRole("link", { name: flow, exact: true }).waitFor();
});

spec("a flow tells in which stage it is, and that it is late", async ({ reeve, open }) => {
  const flow = await reeve.submit({ deadline: "1s", jobs: { work: { run: "exit 3", retries: 0 } }, finally: { clean: { sleep: "1h" } } });
  const page = await open(`/flows/${flow}`);
  await laidOut(page);
  const facts = page.locator("dl");
  await facts.getByText("finally", { exact: true }).first().waitFor();
  await page.locator(".flow-head").getByText("late", { exact: true }).waitFor(); // by the event, without a reload
  await reeve.cli("cancel", flow); // the flow is in its last stage: this cancels that
  await page.locator(".flow-head [data-state=failed]").waitFor();
});
