// agent.mjs PEER PLACE: does what it is told on standard input, a JSON object a line, and answers with one (lab.py: Agent).
// A peer is a module with: open(place), add(data), queued(), drain(count), close(), perhaps trip().
import { createInterface } from "node:readline";

const [name, place] = process.argv.slice(2);
const peer = await import(`./${name}.mjs`);
const seconds = (from) => Number(process.hrtime.bigint() - from) / 1e9;
let acknowledged = 0;

// `clients` adds under way, for a time or until there are `answers`.
async function submit({ clients, payload, milliseconds, answers }) {
  const data = { x: "x".repeat(Math.max(0, payload - 8)) };
  const before = acknowledged;
  const began = process.hrtime.bigint();
  let asked = 0;
  const more = () => (answers ? asked < answers : seconds(began) * 1000 < milliseconds);
  const one = async () => {
    while (more()) {
      asked++;
      await peer.add(data);
      acknowledged++;
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
  const took = seconds(began);
  return { count: acknowledged - before, seconds: took, acknowledged, queued: await peer.queued() };
}

async function drain({ count }) {
  await peer.fill(count);
  const began = process.hrtime.bigint();
  await peer.drain(count);
  return { seconds: seconds(began) };
}

async function round_trip({ count }) {
  await peer.trip(); // warm
  const began = process.hrtime.bigint();
  for (let i = 0; i < count; i++) await peer.trip();
  return { seconds: seconds(began) };
}

const commands = { submit, drain, round_trip };
const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");
try {
  await peer.open(place);
  say({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const { op, ...settings } = JSON.parse(line);
    try {
      say(await commands[op](settings));
    } catch (error) {
      console.error(error);
      say({ error: String(error) });
    }
  }
} catch (error) {
  console.error(error);
  say({ error: String(error) });
}
process.exit(0);
