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
  csrf?: string; // of a login
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

// The other half of a session. The cookie goes to every port of this host; this is kept by origin, port included, and
// read for each request: someone may have logged in anew in another tab.
const CSRF = "reeve.csrf";
let csrfOfPage = ""; // where nothing may be stored

export function csrfNow(): string {
  try {
    return localStorage.getItem(CSRF) ?? csrfOfPage;
  } catch {
    return csrfOfPage;
  }
}

export function setCsrf(csrf: string): void {
  csrfOfPage = csrf;
  try {
    if (csrf === "") localStorage.removeItem(CSRF);
    else localStorage.setItem(CSRF, csrf);
  } catch {
    // this page has it, others log in by themselves
  }
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
  const csrf = csrfNow();
  if (csrf !== "") headers.set("reeve-csrf", csrf);
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

/** An answer that is no JSON, as text. */
export async function text(path: string): Promise<string> {
  return (await send("GET", urlOf(path))).text();
}

/** Gives the person a file of what is at this URL. A plain link would not do: it shows the cookie only. */
export async function download(url: string, name: string): Promise<void> {
  save(await (await send("GET", url)).blob(), name);
}

export function save(bytes: Blob, name: string): void {
  const url = URL.createObjectURL(bytes);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
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
