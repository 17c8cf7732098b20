// A real `reeve serve` that believes identity providers, in a directory of its own.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const program = resolve(root, process.env.REEVE ?? "build/release/reeve");
const READY_MS = 30_000;

const running = new Set();

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

/** The environment of a person who has set nothing up, with a home of its own. */
export function environment(home, more = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("REEVE") && !name.startsWith("XDG"));
  return { ...Object.fromEntries(kept), HOME: home, ...more };
}

export const rules = [
  { when: { groups: "admins" }, account: "{preferred_username}", roles: ["admin"], tenant: "*" },
  { when: { groups: "team-*" }, account: "{preferred_username}", roles: ["submitter", "viewer"], tenant: "red" },
];

export class Server {
  /** `issuers`: of the document, as objects. */
  static async start({ issuers, flags = [], data, files = {} } = {}) {
    const it = new Server();
    it.data = data ?? (await mkdtemp(join(tmpdir(), "reeve-oidc-")));
    it.port = await freePort();
    it.url = `http://127.0.0.1:${it.port}`;
    it.document = join(it.data, "issuers.yaml");
    it.said = "";
    for (const [name, text] of Object.entries(files)) await writeFile(join(it.data, name), text, { mode: 0o600 });
    await it.write(issuers);
    it.flags = flags;
    await it.begin();
    running.add(it);
    it.admin = (await readFile(join(it.data, "admin.token"), "utf8")).trim();
    return it;
  }

  write(issuers) {
    return writeFile(this.document, JSON.stringify({ issuers }));
  }

  async begin() {
    const from = this.said.length;
    const args = ["serve", "--data", this.data, "--listen", `127.0.0.1:${this.port}`, "--oidc", this.document, ...this.flags];
    this.process = spawn(program, args, { cwd: root, env: environment(this.data), stdio: ["ignore", "ignore", "pipe"] });
    this.process.stderr.on("data", (chunk) => (this.said += chunk));
    await this.says(" ready ", from);
  }

  /** Waits until the log has this. */
  async says(text, from = 0) {
    const end = Date.now() + READY_MS;
    const has = () => (typeof text === "string" ? this.said.slice(from).includes(text) : text.test(this.said.slice(from)));
    while (!has()) {
      if (this.process.exitCode !== null) throw new Error(`the server ended:\n${this.said}`);
      const left = end - Date.now();
      if (left <= 0) throw new Error(`the server did not say ${text}:\n${this.said}`);
      let heard;
      const word = new Promise((done) => this.process.stderr.once("data", (heard = done)));
      const over = new Promise((done) => this.process.once("close", done));
      let timer;
      await Promise.race([word, over, new Promise((done) => (timer = setTimeout(done, left)))]);
      clearTimeout(timer);
      this.process.stderr.off("data", heard);
    }
  }

  /** Reads the document again. */
  async reload(issuers) {
    const from = this.said.length;
    await this.write(issuers);
    this.process.kill("SIGHUP");
    await this.says(/oidc .*(read again|issuers\.yaml)/, from);
  }

  /** GET /api/v1/PATH with a token. */
  get(path, token, headers = {}) {
    return fetch(`${this.url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  }

  /** Who the token is to this server. */
  async who(token) {
    const answer = await this.get("/session", token);
    return { status: answer.status, ...(await answer.json()) };
  }

  /** The same, while the keys of its issuer are on their way. */
  async whoSoon(token) {
    for (let left = 300; ; left--) {
      const who = await this.who(token);
      if (who.status !== 503 || left === 0) return who;
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  /** A verb, as this person's program; `env` as REEVE_TOKEN. */
  cli(args, { env = {}, input = "" } = {}) {
    return new Promise((done) => {
      const child = execFile(program, args, { cwd: this.data, env: environment(this.data, { REEVE_SERVER: `127.0.0.1:${this.port}`, ...env }), timeout: 60_000 }, (error, stdout, stderr) =>
        done({ code: error?.code ?? 0, out: stdout, err: stderr }),
      );
      child.stdin.end(input);
    });
  }

  /** The same, still running: what it has said is in `said`. */
  start(args, { env = {} } = {}) {
    const child = spawn(program, args, { cwd: this.data, env: environment(this.data, env), stdio: ["ignore", "pipe", "pipe"] });
    const it = { child, out: "", err: "" };
    child.stdout.on("data", (chunk) => (it.out += chunk));
    child.stderr.on("data", (chunk) => (it.err += chunk));
    it.ended = new Promise((done) => child.on("close", (code) => done(code)));
    it.says = async (pattern) => {
      for (let found; ; await new Promise((done) => child.stderr.once("data", done))) if ((found = pattern.exec(it.err))) return found;
    };
    return it;
  }

  async stop() {
    running.delete(this);
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const over = new Promise((done) => this.process.on("exit", done));
      this.process.kill("SIGTERM");
      await over;
    }
  }

  async kill() {
    const over = new Promise((done) => this.process.on("exit", done));
    this.process.kill("SIGKILL");
    await over;
  }

  async remove() {
    await this.stop();
    await rm(this.data, { recursive: true, force: true, maxRetries: 10 });
  }
}

export async function stopAll() {
  for (const server of running) await server.remove();
}
