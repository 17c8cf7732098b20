// pg-boss: PLACE is the address of a PostgreSQL.
import pg from "pg";
import PgBoss from "pg-boss";

const BATCH = 1000;
let boss, pool;

export async function open(place) {
  pool = new pg.Pool({ connectionString: place, max: 2 });
  boss = new PgBoss({ connectionString: place, max: 64 });
  boss.on("error", (error) => console.error(error));
  await boss.start();
}

export const add = (data) => boss.send("submits", data);

async function count_of(name) {
  const { rows } = await pool.query("select count(*)::int as n from pgboss.job where name = $1 and state < 'completed'", [name]);
  return rows[0].n;
}
export const queued = () => count_of("submits");

export async function fill(count) {
  for (let at = 0; at < count; at += BATCH)
    await boss.insert(Array.from({ length: Math.min(BATCH, count - at) }, () => ({ name: "drain", data: {} })));
}

export async function drain() {
  const id = await boss.work("drain", { batchSize: BATCH, newJobCheckInterval: 100 }, async () => {});
  const end = Date.now() + 120000;
  while ((await count_of("drain")) > 0) {
    if (Date.now() > end) throw new Error("it is not drained after two minutes");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await boss.offWork({ id });
}
