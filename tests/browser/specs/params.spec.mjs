// Parameters are asked for in fields of their type, and judged before anything is sent.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { spec } from "../lib/spec.mjs";

const text = `name: typed
params:
  day: {type: date, min: 2026-01-01, description: the day to load}
  n: {type: integer, min: 1, max: 9, default: 3}
  size: {choices: [small, large], default: small}
  tag: {pattern: "v[0-9]+", default: v1}
  dry: {type: boolean, default: false}
  regions: {type: list, default: [north, south]}
jobs:
  a: {foreach: {region: params.regions, part: params.n}, run: 'echo "\${params.day} \${params.size} \${params.tag} \${params.dry} \${item.region} \${item.part}"'}
`;

spec("each parameter is asked for in a field of its type", async ({ reeve, open }) => {
  const file = join(await mkdtemp(join(tmpdir(), "reeve-")), "typed.yaml");
  await writeFile(file, text);
  const flow = await reeve.submit(file, "-p", "day=2026-03-01", "-p", "n=1");
  await reeve.ended(flow);
  const page = await open(`/flows/${flow}`);
  await page.getByRole("button", { name: "Run again…" }).click();
  const dialog = page.getByRole("dialog");
  const day = dialog.getByLabel("day the day to load");
  assert.equal(await day.getAttribute("type"), "date");
  assert.equal(await day.inputValue(), "2026-03-01");
  assert.equal(await dialog.getByLabel("n", { exact: true }).getAttribute("type"), "number");
  assert.equal(await dialog.getByLabel("n", { exact: true }).inputValue(), "1");
  assert.equal(await dialog.getByLabel("dry").isChecked(), false);
  assert.equal(await dialog.getByLabel("regions").inputValue(), '["north","south"]');
  await dialog.getByLabel("tag").fill("x");
  assert.equal(await dialog.getByLabel("tag").evaluate((field) => field.validationMessage), "It must fit v[0-9]+");
  await dialog.getByRole("button", { name: "Run again" }).click();
  assert.ok(await dialog.isVisible(), "nothing was sent");
  await dialog.getByLabel("tag").fill("v2");
  await day.fill("2026-03-02");
  await dialog.getByLabel("size").selectOption("large");
  await dialog.getByLabel("dry").check();
  await dialog.getByLabel("regions").fill('["east"]');
  await dialog.getByRole("button", { name: "Run again" }).click();
  await page.locator(".flow-facts", { hasText: "day=2026-03-02" }).waitFor();
  const again = new URL(page.url()).pathname.split("/")[2];
  assert.equal((await reeve.ended(again)).state, "succeeded");
  assert.equal(await reeve.cli("logs", `${again}/a[0]`), "2026-03-02 large v2 true east 1\n");
});

spec("the constructor asks for them before it submits", async ({ reeve, open }) => {
  const page = await open("/new?side=yaml");
  await page.getByLabel("Flow file (YAML)").fill(text);
  await page.getByText("No problems found so far").waitFor();
  await page.getByRole("button", { name: "Submit" }).click();
  const dialog = page.getByRole("dialog", { name: "Parameters of this run" });
  await dialog.getByRole("button", { name: "Submit" }).click();
  assert.ok(await dialog.isVisible(), "a required date is missing");
  await dialog.getByLabel("day the day to load").fill("2026-04-01");
  await dialog.getByLabel("n", { exact: true }).fill("2");
  await dialog.getByRole("button", { name: "Submit" }).click();
  await page.waitForURL(/\/flows\/f/);
  const flow = new URL(page.url()).pathname.split("/")[2];
  assert.equal((await reeve.ended(flow)).state, "succeeded");
  assert.equal(await reeve.cli("logs", `${flow}/a[3]`), "2026-04-01 small v1 false south 2\n");
});
