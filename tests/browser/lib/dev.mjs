// BROWSER_DEV=1: the console from its sources by Vite in place of the one in the binary, with the token added on the
// way, to try a page without building the program.
import { spawn } from "node:child_process";
import { join } from "node:path";

import { freePort, root, said } from "./reeve.mjs";

export const isDev = process.env.BROWSER_DEV === "1";

/** Starts it for one server; the answer is its address. */
export async function serveSources(reeve) {
  const port = await freePort();
  const console = join(root, "console");
  const env = { ...process.env, REEVE_URL: reeve.url, REEVE_TOKEN: reeve.token };
  const vite = spawn(join(console, "node_modules/.bin/vite"), ["--port", String(port), "--strictPort", "--host", "127.0.0.1"], { cwd: console, env });
  reeve.process.on("exit", () => vite.kill());
  await said(vite, "Local");
  return `http://127.0.0.1:${port}`;
}
