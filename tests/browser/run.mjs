// run.mjs [--together N] [--alone] [WORD...]: runs the specs of tests/browser/specs in one Chromium, or only those whose file
// or name has one of the words. One after the other; with --together N, N at a time, each beside a server of its own, but
// for those that measure how fast a page is: these are run by --alone. TAP; not zero when one failed. A browser on a busy
// machine is late now and then: a spec that fails is tried once more, and the log says so.
import { readdir } from "node:fs/promises";
import { parseArgs } from "node:util";

import { closeBrowser } from "./lib/browser.mjs";
import { Lane, specs, stopServers } from "./lib/spec.mjs";

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { together: { type: "string" }, alone: { type: "boolean" } },
});
const folder = new URL("./specs/", import.meta.url);
const files = (await readdir(folder)).filter((file) => file.endsWith(".spec.mjs")).sort();

for (const file of files) {
  const first = specs.length;
  await import(new URL(file, folder).href);
  for (const one of specs.slice(first)) one.title = `${file.replace(".spec.mjs", "")}: ${one.name}`;
}

const isWanted = ({ title, alone }) =>
  (words.length === 0 || words.some((word) => title.includes(word))) &&
  (values.alone === undefined || alone) &&
  (values.together === undefined || !alone);
const left = specs.filter(isWanted);
let count = 0;
let failed = 0;

function tell(good, title, notes) {
  const lines = notes.flatMap((note) => note.split("\n")).map((line) => `# ${line}\n`);
  process.stdout.write(`${good ? "ok" : "not ok"} ${++count} - ${title}\n${lines.join("")}`);
  if (!good) failed++;
}

async function tryTwice(one, lane, notes) {
  try {
    await one.run(lane);
  } catch (error) {
    notes.push(`tried again after: ${error.message}`);
    await one.run(lane);
  }
}

/** Whatever is not over by then has failed; what it leaves behind is stopped at the very end. */
async function within(ms, work) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`it did not end within ${ms / 1000} s`)), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function runLane() {
  const lane = new Lane();
  for (let one = left.shift(); one !== undefined; one = left.shift()) {
    const begin = Date.now();
    const notes = [];
    let good = true;
    try {
      await within(2 * one.timeout, tryTwice(one, lane, notes));
    } catch (error) {
      good = false;
      notes.push(error.stack ?? String(error));
    }
    tell(good, one.title, [...notes, `${((Date.now() - begin) / 1000).toFixed(1)} s`]);
  }
}

process.stdout.write(`1..${left.length}\n`);
await Promise.all(Array.from({ length: Number(values.together ?? 1) }, runLane));
await closeBrowser();
await stopServers();
process.exit(failed === 0 ? 0 : 1);
