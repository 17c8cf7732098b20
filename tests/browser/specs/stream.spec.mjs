import assert from "node:assert/strict";

import { OUTAGE } from "../lib/browser.mjs";
import { layCable } from "../lib/cable.mjs";
import { assertEachOnce, eventsSince } from "../lib/events.mjs";
import { spec } from "../lib/spec.mjs";

const live = (page) => page.getByRole("status").filter({ hasText: "live" }).waitFor();
const cut = (page) => page.getByRole("status").filter({ hasText: "not connected" }).waitFor();
const chain = (count) => ({ jobs: Object.fromEntries(Array.from({ length: count }, (_, i) => [`j${i}`, i === 0 ? { noop: true } : { noop: true, needs: `j${i - 1}` }])) });
const endOf = (flow) => (event) => event.type === "flow" && event.target === flow && event.to === "succeeded";

/** Flows run before, while and after the connection is cut; the page must have heard of every event once. */
async function survives(reeve, page, cutOff, restore) {
  await live(page);
  const first = await reeve.submit(chain(20));
  await reeve.ended(first);
  await cutOff();
  await cut(page);
  const during = await restore();
  await live(page);
  const last = await reeve.submit(chain(20));
  await reeve.ended(last);
  const ours = [first, during, last];
  const events = (await eventsSince(reeve, "0.0", endOf(last))).filter((event) => ours.some((flow) => event.target.split("/")[0] === flow));
  await waitFor(() => page.positions.includes(events.at(-1).position));
  assertEachOnce(page, events);
  assert.ok(events.length >= 3 * 20 * 3, `${events.length} events`);
}

/** The page's frames are told to us by the browser a moment later. */
async function waitFor(condition) {
  const by = Date.now() + 15_000;
  while (!condition()) {
    assert.ok(Date.now() < by, "it did not happen");
    await new Promise((done) => setImmediate(done));
  }
}

spec("a connection that is cut and mended misses no event and hears none twice", async ({ fresh, open }) => {
  const reeve = await fresh();
  const cable = await layCable(reeve);
  try {
    const page = await open("/", { reeve, through: cable, allow: OUTAGE });
    await survives(reeve, page, cable.cut, async () => {
      const flow = await reeve.submit(chain(20));
      await reeve.ended(flow);
      await cable.mend();
      return flow;
    });
  } finally {
    await cable.close();
  }
});

spec("a server that was killed and is back tells every event once", async ({ fresh, open }) => {
  const reeve = await fresh();
  const page = await open("/", { reeve, allow: OUTAGE });
  await survives(reeve, page, () => reeve.killServer(), async () => {
    await live(page);
    const flow = await reeve.submit(chain(20));
    await reeve.ended(flow);
    return flow;
  });
});
