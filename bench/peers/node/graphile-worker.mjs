// graphile-worker: PLACE is the address of a PostgreSQL.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const CONCURRENCY = 24;
const logger = new Logger(() => () => {});
let pool, utils, address;

export async function open(place) {
  address = place;
  pool = new pg.Pool({ connectionString: place, max: 64 });
  utils = await makeWorkerUtils({ pgPool: pool, logger });
  await utils.migrate();
}

export const add = (data) => utils.addJob("submits", data);

async function count_of(task) {
  const { rows } = await pool.query("select count(*)::int as n from graphile_worker.jobs where task_identifier = $1", [task]);
  return rows[0].n;
}
export const queued = () => count_of("submits");

export async function fill(count) {
  await pool.query("select graphile_worker.add_job('drain', '{}'::json) from generate_series(1, $1::int)", [count]);
}

// A runner whose jobs are over when that is written.
async function runner_start(task, ended, failed) {
  const runner = await run({
    connectionString: address, maxPoolSize: CONCURRENCY + 2, concurrency: CONCURRENCY, noHandleSignals: true, logger,
    taskList: { [task]: async () => {} },
  });
  runner.events.on("job:complete", ({ error }) => (error ? failed(error) : ended()));
  return runner;
}

export async function drain(count) {
  let runner;
  await new Promise((resolve, reject) => {
    let ended = 0;
    runner_start("drain", () => ++ended === count && resolve(), reject).then((it) => (runner = it), reject);
  });
  if ((await count_of("drain")) !== 0) throw new Error("jobs are left");
  await runner.stop();
}

let tripper, waiting;
export async function trip() {
  tripper ??= await runner_start("trips", () => waiting.resolve(), (error) => waiting.reject(error));
  const over = new Promise((resolve, reject) => (waiting = { resolve, reject }));
  await utils.addJob("trips", {});
  await over;
}
