// A list of a million flows, made by bench/flow_list.py: too slow to be made for every run of the tests, so this is only
// there when REEVE_FLOWS_DATA names the directory. Prints what it measured.
import assert from "node:assert/strict";

import { spec } from "../lib/spec.mjs";

const data = process.env.REEVE_FLOWS_DATA;
const rows = (page) => page.getByRole("table", { name: "Flows" }).locator(".flow-row:not(.rows-head)");

/** From one frame to the next, while the list is dragged down by `step` pixels a frame, `frames` times. */
const drag = (page, step, frames) =>
  page.evaluate(
    async ([by, count]) => {
      const list = document.querySelector(".rows");
      const took = [];
      let last = performance.now();
      for (let i = 0; i < count; i++) {
        list.scrollTop += by;
        await new Promise(requestAnimationFrame);
        took.push(performance.now() - last);
        last = performance.now();
      }
      return took.sort((a, b) => a - b);
    },
    [step, frames],
  );

/** To the end of what is known, until the end of all is. */
async function toTheEnd(page) {
  return page.evaluate(async () => {
    const list = document.querySelector(".rows");
    const says = () => document.querySelector("main [role=status]").textContent;
    while (says().includes("+")) {
      list.scrollTop = list.scrollHeight;
      await new Promise(requestAnimationFrame);
    }
    list.scrollTop = list.scrollHeight;
    return says();
  });
}

if (data !== undefined)
  spec(
    "a million flows scroll",
    async ({ fresh, open }) => {
      const reeve = await fresh({ data });
      const began = performance.now();
      const page = await open("/flows", { reeve });
      await rows(page).first().waitFor();
      console.log(`first rows after ${Math.round(performance.now() - began)} ms, with login`);
      const frames = await drag(page, 2000, 300);
      console.log(`a frame while it is dragged: median ${frames[150].toFixed(1)} ms, the slowest of 300 ${frames[299].toFixed(0)} ms`);
      const from = performance.now();
      const says = await toTheEnd(page);
      const seconds = (performance.now() - from) / 1000;
      assert.ok(Number(says.replace(/\D/g, "")) >= 1_000_000, says);
      await page.getByText("etl-0", { exact: true }).last().waitFor();
      const memory = await page.evaluate(() => performance.memory.usedJSHeapSize);
      console.log(`all ${says} came to the page in ${seconds.toFixed(0)} s; its heap is ${(memory / 1e6).toFixed(0)} MB`);
      assert.ok((await rows(page).count()) < 80, "only those that are seen exist");
      // back to the top, and to the middle: nothing of it has to be waited for
      for (const share of [0, 0.5, 0.25]) {
        const start = performance.now();
        await page.evaluate((part) => {
          const list = document.querySelector(".rows");
          list.scrollTop = list.scrollHeight * part;
        }, share);
        await page.waitForFunction(() => {
          const seen = [...document.querySelectorAll(".flow-row:not(.rows-head)")];
          return seen.length > 0 && seen.every((row) => row.querySelector("a"));
        });
        console.log(`rows at ${share * 100} % after ${Math.round(performance.now() - start)} ms`);
      }
    },
    { timeout: 900_000 },
  );
