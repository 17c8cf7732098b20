// `reeve mcp` as bytes: lines in, lines out.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { environment, program, root } from "./lib.mjs";

export class Line {
  constructor(reeve, env = {}) {
    this.process = spawn(program, ["mcp"], {
      cwd: root,
      env: environment({ REEVE_DATA: reeve.data, ...env }),
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.errors = "";
    this.process.stderr.on("data", (chunk) => (this.errors += chunk));
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.process.stdin.on("error", () => undefined);
    this.over = new Promise((done) => this.process.on("exit", done));
  }

  send(bytes) {
    this.process.stdin.write(bytes);
    this.process.stdin.write("\n");
  }

  async next() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error(`it ended: ${this.errors}`);
    return value;
  }

  async raw(bytes) {
    this.send(bytes);
    return this.next();
  }

  async ask(message) {
    return JSON.parse(await this.raw(JSON.stringify(message)));
  }

  /** Closes its input; the answer is its exit code. */
  async close() {
    this.process.stdin.end();
    return this.over;
  }
}
