// A real `reeve up` in a directory of its own, and the command line beside it: what a page did is checked by what
// `reeve … -o jsonl` says, never by the page alone.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../", import.meta.url));
const program = resolve(root, process.env.REEVE ?? "build/release/reeve");
const READY_MS = 30_000;
const CLI_MS = 60_000;

/** The environment of a person who has set nothing up. */
function environment() {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("REEVE"));
  return Object.fromEntries(kept);
}

export function freePort() {
  return new Promise((done, failed) => {
    const server = createServer();
    server.on("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/** Resolves with what `process` said up to the text that shows it is ready. */
export function said(process, text) {
  return new Promise((done, failed) => {
    let heard = "";
    const timer = setTimeout(() => failed(new Error(`not ready after ${READY_MS} ms, said: ${heard}`)), READY_MS);
    const hear = (chunk) => {
      heard += chunk;
      if (!heard.includes(text)) return;
      clearTimeout(timer);
      done(heard);
    };
    process.stdout.on("data", hear);
    process.stderr.on("data", hear);
    process.on("exit", (code) => {
      clearTimeout(timer);
      failed(new Error(`it ended with ${code}, said: ${heard}`));
    });
  });
}

const running = new Set();

/** Ends whatever a test that failed has left running: its pipes would keep this process alive for ever. */
export async function stopAll() {
  for (const reeve of [...running]) await reeve.stop();
}

export class Reeve {
  files = 0; // written so far

  /** Starts a server with a worker; `flags` are further ones of `reeve up`. A `data` directory that is given is kept. */
  static async start({ flags = [], slots = 4, data } = {}) {
    const reeve = new Reeve();
    reeve.isKept = data !== undefined;
    reeve.data = data ?? (await mkdtemp(join(tmpdir(), "reeve-browser-")));
    reeve.port = await freePort();
    reeve.url = `http://127.0.0.1:${reeve.port}`;
    const args = ["up", "--data", reeve.data, "--listen", `127.0.0.1:${reeve.port}`, "--slots", String(slots), ...flags];
    reeve.process = spawn(program, args, { cwd: root, env: environment(), stdio: ["ignore", "pipe", "pipe"] });
    running.add(reeve);
    await said(reeve.process, "worker started");
    reeve.token = (await readFile(join(reeve.data, "admin.token"), "utf8")).trim();
    return reeve;
  }

  /** Runs a verb; the answer is its output. A verb that fails is an error with its words. */
  cli(...args) {
    const env = { ...environment(), REEVE_DATA: this.data };
    return new Promise((done, failed) => {
      const child = execFile(program, args, { cwd: root, env, timeout: CLI_MS, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
        if (error) failed(new Error(`reeve ${args.join(" ")}: ${stderr || error.message}`));
        else done(stdout);
      });
      child.stdin.end();
    });
  }

  /** Its objects, one per line of `-o jsonl`. */
  async json(...args) {
    const text = await this.cli(...args, "--format", "jsonl");
    return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  /** Gives `use` the path of a file with this flow in it. */
  async withFile(flow, use) {
    const file = join(this.data, `flow-${++this.files}.json`);
    await writeFile(file, JSON.stringify(flow));
    return use(file);
  }

  /** Submits a flow given as an object or as the path of a file; the answer is its id. */
  async submit(flow, ...flags) {
    if (typeof flow !== "string") return this.withFile(flow, (file) => this.submit(file, ...flags));
    const [answer] = await this.json("submit", flow, ...flags);
    return answer.flow;
  }

  /** Waits for the end of a flow or job, however it ends, and shows it. */
  async ended(target) {
    await this.cli("wait", target).catch(() => undefined);
    return this.show(target);
  }

  /** A job; or a flow, its jobs as `jobs`. */
  async show(target) {
    const [answer] = await this.json("show", target);
    if (target.includes("/")) return answer.jobs?.[0] ?? answer;
    return { ...answer.flow, jobs: answer.jobs };
  }

  /** A request of a program: with the token, without a browser. */
  async api(path, init = {}) {
    const headers = { authorization: `Bearer ${this.token}`, "content-type": "application/json", ...init.headers };
    return fetch(`${this.url}/api/v1${path}`, { ...init, headers });
  }

  /** The link by which a browser is let in, once. */
  async loginLink() {
    const [answer] = await this.json("console");
    return answer.url;
  }

  /** The processes of the supervisor: server and worker. */
  async children() {
    const { pid } = this.process;
    const pids = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "")).split(" ").filter((word) => word !== "");
    return pids.map(Number);
  }

  /** Workers that the server started: they live on when it is killed. */
  async started() {
    const names = await readdir(join(this.data, "started")).catch(() => []);
    const texts = names.map((name) => readFile(join(this.data, "started", name, "pid"), "utf8").catch(() => ""));
    return (await Promise.all(texts)).filter((text) => text !== "").map(Number);
  }

  /** kill -9 of the server; its supervisor starts it again. */
  async killServer() {
    for (const pid of await this.children()) {
      const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
      if (words[1] === "serve") process.kill(pid, "SIGKILL");
    }
  }

  /** At once: a worker that was asked to end would wait for what runs. Its jobs die with it. */
  async stop() {
    running.delete(this);
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const over = new Promise((done) => this.process.on("exit", done));
      const pids = [...(await this.children()), ...(await this.started())];
      this.process.kill("SIGKILL");
      for (const pid of pids) kill(pid);
      await over;
    }
    if (!this.isKept) await rm(this.data, { recursive: true, force: true, maxRetries: 10 });
  }
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
