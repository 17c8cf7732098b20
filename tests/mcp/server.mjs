// The server that most tests share.
import { closeAll, connect, Reeve, stopAll } from "./lib.mjs";

let starting;
const clients = new Map();

/** `up` has started the worker; on a busy machine it attaches some time later. */
async function withWorker(reeve) {
  while (!(await reeve.json("workers")).some((worker) => worker.attached));
  return reeve;
}

export function server() {
  starting ??= Reeve.start().then(withWorker);
  return starting;
}

/** The client that tests of this transport share. */
export async function client(how) {
  if (!clients.has(how)) clients.set(how, connect(await server(), how));
  return clients.get(how);
}

export async function stop() {
  await closeAll();
  await stopAll();
}
