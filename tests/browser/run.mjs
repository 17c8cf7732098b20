// run.mjs [WORD...]: runs the specs of tests/browser/specs, one after the other in one Chromium, or only those whose
// file or name has one of the words. TAP; not zero when one failed. A browser on a busy machine is late now and then:
// a spec that fails is tried once more, and the log says so.
import { readdir } from "node:fs/promises";
import { test } from "node:test";

import { closeBrowser } from "./lib/browser.mjs";
import { specs, stopServers } from "./lib/spec.mjs";

const words = process.argv.slice(2);
const folder = new URL("./specs/", import.meta.url);
const files = (await readdir(folder)).filter((file) => file.endsWith(".spec.mjs")).sort();

for (const file of files) {
  const first = specs.length;
  await import(new URL(file, folder).href);
  for (const one of specs.slice(first)) one.title = `${file.replace(".spec.mjs", "")}: ${one.name}`;
}

for (const { title, timeout, run } of specs) {
  if (words.length > 0 && !words.some((word) => title.includes(word))) continue;
  await test(title, { timeout: 2 * timeout }, async (context) => {
    try {
      await run();
    } catch (error) {
      context.diagnostic(`tried again after: ${error.message}`);
      await run();
    }
  });
}
await closeBrowser();
await stopServers();
