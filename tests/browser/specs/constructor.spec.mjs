import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import { spec } from "../lib/spec.mjs";

const card = (page, name) => page.locator(`[data-job="${name}"]`);
const centre = async (locator) => {
  const box = await locator.boundingBox();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

/** With the mouse, as a person does it. */
async function drag(page, from, to) {
  const [a, b] = [await centre(from), await centre(to)];
  await page.mouse.move(a.x, a.y);
  await page.mouse.down();
  await page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2);
  await page.mouse.move(b.x, b.y);
  await page.mouse.up();
}
const draw = (page, from, to) => drag(page, card(page, from).locator(".handle.out"), card(page, to));

async function template(page, title) {
  await page.getByRole("button", { name: "Templates" }).click();
  await page.getByRole("dialog").getByRole("button", { name: title }).click();
}

const edges = async (page) => (await page.locator(".edge").evaluateAll((all) => all.map((edge) => edge.getAttribute("aria-label")))).sort();

async function submitAndShow(page, reeve) {
  await page.getByRole("button", { name: "Submit" }).click();
  await page.waitForURL(/\/flows\/f/);
  const flow = new URL(page.url()).pathname.split("/")[2];
  return [flow, await reeve.ended(flow)];
}

spec("a flow is drawn by hand, submitted, and runs as it was drawn", async ({ reeve, open }) => {
  const page = await open("/new");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByLabel("name", { exact: true }).fill("by-hand");
  await page.locator(".canvas").dblclick({ position: { x: 120, y: 80 } });
  await page.getByLabel("name", { exact: true }).fill("first");
  await page.getByLabel("run", { exact: true }).fill("echo one");
  await page.locator(".canvas").dblclick({ position: { x: 420, y: 300 } });
  await page.getByLabel("name", { exact: true }).fill("second");
  await page.getByLabel("run", { exact: true }).fill('["echo", "two words"]');
  await draw(page, "first", "second");
  assert.deepEqual(await edges(page), ["second needs first"]);
  const [flow, ended] = await submitAndShow(page, reeve);
  assert.equal(ended.state, "succeeded");
  assert.equal(ended.name, "by-hand");
  assert.equal(await reeve.cli("logs", `${flow}/second`), "two words\n");
  assert.deepEqual((await reeve.show(`${flow}/second`)).parents, ["first"]);
});

spec("every template can be submitted as it is", async ({ reeve, open }) => {
  for (const title of ["Chain", "Diamond", "Map and reduce", "Training with a gate", "Saga"]) {
    const page = await open("/new");
    await template(page, title);
    await page.getByText("No problems found so far").waitFor();
    await page.getByRole("button", { name: "Submit" }).click();
    const dialog = page.getByRole("dialog", { name: "Parameters of this run" });
    await page.waitForFunction(() => location.pathname.startsWith("/flows/") || document.querySelector("dialog[open]") !== null);
    if (await dialog.isVisible()) await dialog.getByRole("button", { name: "Submit" }).click();
    await page.waitForURL(/\/flows\/f/);
    const flow = new URL(page.url()).pathname.split("/")[2];
    if (title === "Training with a gate") {
      await reeve.cli("wait", `${flow}/evaluate`);
      await reeve.cli("approve", `${flow}/release`, "--yes");
    }
    assert.equal((await reeve.ended(flow)).state, "succeeded", title);
  }
});

spec("drawing and file show the same, and either changes the other", async ({ open }) => {
  const page = await open("/new?template=diamond&side=yaml");
  const source = page.getByLabel("Flow file (YAML)");
  await card(page, "join").waitFor();
  assert.match(await source.inputValue(), /join:\n\s+needs:\n\s+- left\n\s+- right/);
  await source.fill("name: typed\njobs:\n  a: echo a\n  b: {needs: a, run: echo b}\n");
  await card(page, "b").waitFor();
  assert.deepEqual(await edges(page), ["b needs a"]);
  await source.fill("jobs: {a: [}");
  await page.getByText(/^Line 1: /).waitFor();
  assert.deepEqual(await edges(page), ["b needs a"], "a text that cannot be read changes nothing");
  await page.getByRole("button", { name: "Back to the drawing" }).click();
  await page.keyboard.press("Escape");
  await card(page, "b").click();
  await page.keyboard.press("Delete");
  assert.equal(await source.inputValue(), "name: typed\njobs:\n  a:\n    run: echo a\n");
});

spec("undo and redo, duplicate, select all, arrows and delete by keyboard", async ({ open }) => {
  const page = await open("/new?template=chain");
  await card(page, "load").click();
  const before = await centre(card(page, "load"));
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((x) => document.querySelector("[data-job=load]").getBoundingClientRect().x > x - 60, before.x);
  assert.ok((await centre(card(page, "load"))).x > before.x + 10);
  await page.keyboard.press("Control+d");
  await card(page, "load-2").waitFor();
  assert.deepEqual(await edges(page), ["load needs transform", "load-2 needs transform", "transform needs extract"]);
  await page.keyboard.press("Control+a");
  await page.getByRole("heading", { name: "4 jobs" }).waitFor();
  await page.keyboard.press("Delete");
  await page.getByText("A flow has at least one job.").waitFor();
  await page.keyboard.press("Control+z");
  await card(page, "load-2").waitFor();
  await page.keyboard.press("Control+z");
  await card(page, "load-2").waitFor({ state: "detached" });
  await page.keyboard.press("Control+Shift+Z");
  await card(page, "load-2").waitFor();
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  assert.ok(Math.abs((await centre(card(page, "load"))).x - before.x) < 1, "the move is undone in one step");
});

spec("an edge that would close a circle is refused in words; an edge is removed by its key", async ({ open }) => {
  const page = await open("/new?template=diamond");
  await draw(page, "join", "fetch");
  await page.getByText("that would be a circle").waitFor();
  assert.equal((await edges(page)).length, 4);
  await page.locator(".edge[aria-label='join needs left']").focus();
  await page.keyboard.press("Delete");
  assert.deepEqual(await edges(page), ["join needs right", "left needs fetch", "right needs fetch"]);
});

spec("a job that is renamed is renamed where others speak of it", async ({ open }) => {
  const page = await open("/new?template=chain");
  await card(page, "extract").click();
  await page.getByLabel("name", { exact: true }).fill("read-it");
  assert.deepEqual(await edges(page), ["load needs transform", "transform needs read-it"]);
  await page.getByRole("tab", { name: "YAML" }).click();
  assert.match(await page.getByLabel("Flow file (YAML)").inputValue(), /ROWS: \$\{jobs\["read-it"\]\.outputs\.rows\}/);
});

spec("every key has a field; what is set there is in the flow", async ({ reeve, open }) => {
  const page = await open("/new?template=diamond");
  await card(page, "join").click();
  for (const group of await page.locator(".group > summary").all()) if (!(await group.evaluate((one) => one.parentElement.open))) await group.click();
  await page.getByLabel("retries", { exact: true }).first().fill("7");
  await page.getByLabel("timeout", { exact: true }).first().fill("90s");
  await page.getByRole("button", { name: "Add to env" }).click();
  await page.getByLabel("env: name").fill("GREETING");
  await page.getByLabel("env: name").blur();
  await page.getByLabel("env: value of GREETING").fill("hello there");
  await page.getByLabel("run", { exact: true }).first().fill('echo "$GREETING"');
  const [flow, ended] = await submitAndShow(page, reeve);
  assert.equal(ended.state, "succeeded");
  assert.equal(await reeve.cli("logs", `${flow}/join`), "hello there\n");
  assert.equal((await reeve.show(`${flow}/join`)).attempts_max, 8);
});

spec("the server's refusal is shown in its words, and the draft stays", async ({ open }) => {
  const page = await open("/new?template=diamond", { allow: [/status of 400/] });
  await card(page, "join").click();
  await page.getByLabel("when", { exact: true }).fill("jobs.left.outputs.x ==");
  await page.getByRole("button", { name: "Submit" }).click();
  await page.locator(".problems .field-problem").waitFor();
  assert.match(await page.locator(".problems .field-problem").textContent(), /join|when/);
  assert.equal(new URL(page.url()).pathname, "/new");
  await card(page, "join").waitFor();
});

spec("a draft survives a reload", async ({ open }) => {
  const page = await open("/new?template=saga");
  await card(page, "pay").click();
  await page.getByLabel("name", { exact: true }).fill("pay-all");
  const before = await centre(card(page, "pay-all"));
  await page.reload();
  await card(page, "pay-all").waitFor();
  const after = await centre(card(page, "pay-all"));
  assert.ok(Math.abs(after.x - before.x) < 1 && Math.abs(after.y - before.y) < 1);
});

spec("a file is imported, and exported as YAML and JSON", async ({ reeve, open }) => {
  const page = await open("/new");
  await page.getByRole("button", { name: "Import" }).click();
  await page.getByRole("dialog").getByLabel("From a file").setInputFiles("examples/ml-gate.yaml");
  await page.getByRole("dialog").getByRole("button", { name: "Import" }).click();
  await card(page, "evaluate").waitFor();
  for (const kind of ["yaml", "json"]) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByLabel("Export").selectOption(kind)]);
    assert.equal(file.suggestedFilename(), `ml-gate.${kind}`);
    const checked = JSON.parse(await reeve.cli("submit", "--dry-run", await file.path()));
    assert.deepEqual(checked.jobs.map((job) => job.name), ["train", "evaluate", "release", "deploy"]);
    assert.match(await readFile(await file.path(), "utf8"), /Deploy this model/);
  }
});

spec("a flow that ran is the beginning of a new one", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "ran-once", jobs: { a: "echo a", b: { needs: "a", run: ["echo", "b"], env: { X: "1" } } } });
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}`);
  await page.getByRole("link", { name: "Use as template" }).click();
  await card(page, "b").waitFor();
  assert.deepEqual(await edges(page), ["b needs a"]);
  const [again, ended] = await submitAndShow(page, reeve);
  assert.notEqual(again, flow);
  assert.equal(ended.state, "succeeded");
});

spec("a flow that ran is drawn from the file it was submitted from", async ({ reeve, open }) => {
  const flow = await reeve.submit({ name: "as-it-was", params: { word: "x" }, jobs: { a: { run: "echo ${params.word}", retries: 7 } } });
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}`);
  await page.getByRole("link", { name: "Use as template" }).click();
  await card(page, "a").waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByLabel("Export").selectOption("json")]);
  assert.deepEqual(JSON.parse(await readFile(await file.path(), "utf8")), {
    name: "as-it-was", params: { word: "x" }, jobs: { a: { run: "echo ${params.word}", retries: 7 } },
  });
});

spec("a check asks the server and submits nothing", async ({ reeve, open }) => {
  const page = await open("/new?template=diamond", { allow: [/status of 400/] });
  await page.getByLabel("name", { exact: true }).fill("only-checked");
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("The server would accept it: 4 jobs.").waitFor();
  await card(page, "join").click();
  await page.getByLabel("foreach", { exact: true }).fill("jobs.nobody.outputs");
  await page.getByRole("button", { name: "Check" }).click();
  await page.locator(".problems .field-problem", { hasText: "nobody" }).waitFor();
  assert.deepEqual(await reeve.json("ls", "--name", "only-checked").then((all) => all.flatMap((one) => one.flows ?? [])), []);
});
