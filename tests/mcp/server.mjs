// The server that most tests share.
import { closeAll, connect, Reeve, stopAll } from "./lib.mjs";

let starting;
const clients = new Map();

export function server() {
  starting ??= Reeve.start();
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
