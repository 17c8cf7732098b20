// BullMQ: PLACE is the port of a Redis.
import { Queue, QueueEvents, Worker } from "bullmq";

let connection, queue, events, worker;
const noop = async () => null;

export async function open(port) {
  connection = { host: "127.0.0.1", port: Number(port) };
  queue = new Queue("submits", { connection });
  await queue.waitUntilReady();
}

export const add = (data) => queue.add("job", data);
export const queued = () => queue.getWaitingCount();

let filled, drainer, drains = 0;
export async function fill(count) {
  const name = `drain-${drains++}`;
  filled = new Queue(name, { connection });
  for (let at = 0; at < count; at += 1000)
    await filled.addBulk(Array.from({ length: Math.min(1000, count - at) }, () => ({ name: "job", data: {} })));
  drainer = new Worker(name, noop, { connection, autorun: false, concurrency: 100 });
  await drainer.waitUntilReady();
}

// A job is over when Redis has acknowledged its end.
export async function drain(count) {
  await new Promise((resolve, reject) => {
    let ended = 0;
    drainer.on("completed", () => ++ended === count && resolve());
    drainer.on("failed", (_, error) => reject(error));
    drainer.on("error", reject);
    drainer.run().catch(reject);
  });
  // Not waited for: closing takes a worker seconds.
  drainer.close(true).catch(() => {});
}

let trips;
export async function trip() {
  if (!trips) {
    trips = new Queue("trips", { connection });
    events = new QueueEvents("trips", { connection });
    worker = new Worker("trips", noop, { connection });
    await Promise.all([events.waitUntilReady(), worker.waitUntilReady()]);
  }
  const job = await trips.add("job", {});
  await job.waitUntilFinished(events, 60000);
}
