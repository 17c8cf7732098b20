// Clients of the gateway for agents: the official one, by stdio and by HTTP, against a real server.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { resolve } from "node:path";

import { Reeve, root, stopAll } from "../browser/lib/reeve.mjs";

export { Reeve, root, stopAll };
export const program = resolve(root, process.env.REEVE ?? "build/release/reeve");

/** The environment of an agent's program: nothing of ours but what is said. */
export function environment(more = {}) {
  return { PATH: process.env.PATH, HOME: process.env.HOME, ...more };
}

const opened = new Set();

/** Closes all clients, also those of tests that failed. */
export async function closeAll() {
  for (const client of opened) await client.close().catch(() => undefined);
}

/** A connected client. `how` is stdio or http; without a token it is this user, or the administrator. */
export async function connect(reeve, how, { token, env = {} } = {}) {
  const client = new Client({ name: "reeve-tests", version: "1" });
  client.noise = []; // what came that no client understands
  client.onerror = (error) => client.noise.push(error);
  const transport =
    how === "stdio"
      ? new StdioClientTransport({
          command: program,
          args: ["mcp"],
          cwd: root,
          stderr: "pipe",
          env: environment({ REEVE_DATA: reeve.data, ...(token ? { REEVE_TOKEN: token } : {}), ...env }),
        })
      : new StreamableHTTPClientTransport(new URL(`${reeve.url}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${token ?? reeve.token}` } },
        });
  opened.add(client);
  await client.connect(transport);
  return client;
}

/** Calls a tool; the answer is its result as an object. One that went wrong is an error with its words. */
export async function call(client, name, args = {}, options = {}) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  const value = JSON.parse(result.content[0].text);
  if (JSON.stringify(value) !== JSON.stringify(result.structuredContent)) throw new Error("both forms of a result are the same");
  if (result.isError) throw Object.assign(new Error(value.message), { code: value.code, value });
  return value;
}

/** Says yes at a gate, as a person does: an agent cannot. */
export async function approve(reeve, job) {
  await reeve.cli("approve", job, "--yes");
}

/** A token with these roles. */
export async function tokenOf(reeve, name, ...roles) {
  const [given] = await reeve.json("token", "new", name, ...roles.flatMap((role) => ["--role", role]));
  return given.token;
}

/** One POST to /mcp, as bytes and headers are given. */
export function post(reeve, body, headers = {}) {
  return fetch(`${reeve.url}/mcp`, {
    method: "POST",
    body,
    headers: {
      authorization: `Bearer ${reeve.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
  });
}
