// Requests to the server that this page came from. Types are those of docs/openapi.yaml.
import type { components } from "./schema";

export type Schemas = components["schemas"];
export type FlowView = Schemas["flow_view"];
export type JobView = Schemas["job_view"];
export type AttemptView = Schemas["attempt_view"];
export type QuestionView = Schemas["question_view"];
export type WorkerView = Schemas["worker_view"];
export type ServiceView = Schemas["service_view"];
export type ScheduleView = Schemas["schedule_view"];
export type Reason = Schemas["reason"];

export interface Session {
  name: string;
  tenant?: string;
  roles: string[];
  csrf: string;
  expires_ms?: number;
  version?: string;
  playground?: boolean;
}

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: no answer
    readonly code: string,
    message: string,
    readonly field?: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

let csrf = "";

export function setCsrf(token: string): void {
  csrf = token;
}

export type Query = Record<string, string | number | boolean | string[] | undefined>;

export function urlOf(path: string, query: Query = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const item of value) pairs.append(name, item);
    else if (value !== undefined && value !== "") pairs.append(name, String(value));
  }
  const text = pairs.toString();
  return `/api/v1${path}${text === "" ? "" : `?${text}`}`;
}

async function errorOf(answer: Response): Promise<ApiError> {
  const body: unknown = await answer.json().catch(() => null);
  const said = (body ?? {}) as { code?: string; message?: string; field?: string; retry_after?: number };
  return new ApiError(answer.status, said.code ?? "unknown", said.message ?? answer.statusText, said.field, said.retry_after);
}

export async function send(method: string, url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (method !== "GET" && csrf !== "") headers.set("reeve-csrf", csrf);
  let answer: Response;
  try {
    answer = await fetch(url, { ...init, method, headers, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "the server does not answer");
  }
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return (await (await send("GET", urlOf(path, query), { signal: signal ?? null })).json()) as T;
}

async function change<T>(method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
  const all = { "content-type": "application/json", ...headers };
  const answer = await send(method, urlOf(path), { headers: all, body: JSON.stringify(body ?? {}) });
  const text = await answer.text();
  return (text === "" ? {} : JSON.parse(text)) as T;
}

export const post = <T = unknown>(path: string, body?: unknown, headers?: Record<string, string>) =>
  change<T>("POST", path, body, headers);
export const put = <T = unknown>(path: string, body?: unknown) => change<T>("PUT", path, body);
export const del = <T = unknown>(path: string) => change<T>("DELETE", path, undefined);

/** "f3k9a/train" as words of a path. */
export function pathOf(target: string): string {
  return target.split("/").map(encodeURIComponent).join("/");
}
