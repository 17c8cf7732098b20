// Sending a draft to the server.
import { send, urlOf } from "../../api/client";
import { fileOf, type Draft, type Keys } from "./draft";
import { jsonOf } from "./yaml";

export interface Submitted {
  flow: string;
  job_count: number;
  repeated?: boolean;
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

let lastText = "";
let lastKey = "";

/** The same text gets the same key until it was answered: a second click, or one after a lost answer, makes no second flow. */
function keyFor(text: string): string {
  if (text !== lastText) {
    lastText = text;
    lastKey = newKey();
  }
  return lastKey;
}

async function sendFile(file: Keys, params: Record<string, string>, query: Record<string, string>, headers: Record<string, string>): Promise<Submitted> {
  const given = Object.keys(params).length === 0 ? undefined : JSON.stringify(params);
  const answer = await send("POST", urlOf("/flows", { params: given, ...query }), {
    headers: { "content-type": "application/json", ...headers },
    body: jsonOf(file),
  });
  return (await answer.json()) as Submitted;
}

export async function submit(draft: Draft, params: Record<string, string>): Promise<Submitted> {
  const file = fileOf(draft);
  const named = file["key"] === undefined ? { "idempotency-key": keyFor(JSON.stringify([file, params])) } : {};
  const kept = { source_name: `${String(file["name"] ?? "flow")}.json` };
  const answer = await sendFile(file, params, kept, named as Record<string, string>);
  lastText = "";
  return answer;
}

/** The server reads and judges it like a submit, and does nothing. */
export const check = (draft: Draft, params: Record<string, string>): Promise<Submitted> => sendFile(fileOf(draft), params, { check: "true" }, {});
