// The event stream as a program reads it, to compare with what a page saw.
import assert from "node:assert/strict";

const before = (a, b) => {
  const [aLsn, aOrdinal] = a.split(".").map(Number);
  const [bLsn, bOrdinal] = b.split(".").map(Number);
  return aLsn < bLsn || (aLsn === bLsn && aOrdinal < bOrdinal);
};

/** All events behind position `since` up to and with the one that `last` accepts. */
export async function eventsSince(reeve, since, last) {
  const answer = await reeve.api(`/events?since=${since}`, { headers: { accept: "text/event-stream" } });
  assert.equal(answer.status, 200);
  const events = [];
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of answer.body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data:")) continue;
      const event = JSON.parse(line.slice(5));
      if (event.position === undefined || event.type === "hello") continue;
      events.push(event);
      if (last(event)) return events; // leaving the loop closes the connection
    }
  }
  throw new Error("the event stream ended");
}

/** The page saw each of `events` exactly once and in order (it may have seen others before and after). */
export function assertEachOnce(page, events) {
  const seen = page.positions;
  for (let i = 1; i < seen.length; i++)
    assert.ok(before(seen[i - 1], seen[i]), `position ${seen[i]} came behind ${seen[i - 1]}`);
  const all = new Set(seen);
  const missing = events.map((event) => event.position).filter((position) => !all.has(position));
  assert.deepEqual(missing, [], "positions that the page did not see");
}
