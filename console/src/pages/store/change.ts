// Changes of the store, as requests. What was looked at is changed only if nobody changed it meanwhile: the version that
// was shown goes along.
import { post, type Schemas } from "../../api/client";

export type Item = Schemas["kv_item"];
export type Bytes = Schemas["bytes"];
type Change = Record<string, unknown>;

export const send = (flow: string, change: Change) =>
  post<Schemas["kv_changed"]>("/store", { ...change, ...(flow === "" ? {} : { flow }) });

/** 0: it must not be there yet. */
export function setChange(key: Bytes, value: string, version: number, expiresMs: number | undefined): Change {
  return {
    op: "set",
    entries: [{ key, value }],
    ...(version === 0 ? { condition: "if_absent" } : { condition: "if_version", version }),
    ...(expiresMs === undefined ? {} : { expires_ms: expiresMs }),
  };
}

export const deleteChange = (item: Item): Change => ({
  op: "delete", entries: [{ key: item.key }], condition: "if_version", version: item.version,
});

/** Text that is JSON is shown with its structure; everything else as it is. */
export function prettyText(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const PREVIEW = 120;

export function previewOf(item: Item): string {
  if (item.kind === "number") return String(item.number ?? 0);
  if (item.kind === "set") return `${item.number ?? 0} members`;
  const value = item.value ?? "";
  const text = typeof value === "string" ? value : `base64 ${value.base64}`;
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text;
}
