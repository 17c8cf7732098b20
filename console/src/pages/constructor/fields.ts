// The inspector's fields, made from the schema of flow files (docs/guides/flows.schema.json, itself made from the table
// that the server reads by): every key is here with its description, and a new key appears by itself.
import schemaFile from "../../../../docs/guides/flows.schema.json";
import { isObject, type Json } from "./draft";

export type Kind = "text" | "long" | "number" | "truth" | "choice" | "list" | "map" | "object" | "value";

export interface Field {
  key: string;
  text: string; // what it means
  kind: Kind;
  hint?: string; // how a value looks
  choices?: string[];
  fields?: Field[]; // of an object
  short?: boolean; // an object that may also be a plain text, which is then its first key
}

interface Schema {
  description?: string;
  type?: string | string[];
  enum?: Json[];
  oneOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
}

const definitions = (schemaFile as unknown as { $defs: Record<string, Schema> }).$defs;
const LONG = new Set(["run", "text", "body", "stdin", "message", "when", "description"]);

const nameOf = (reference: string): string => reference.replace("#/$defs/", "");
const typesOf = (schema: Schema): string[] => (schema.type === undefined ? [] : Array.isArray(schema.type) ? schema.type : [schema.type]);

/** Through allOf and references, to what there is to choose from. */
function formsOf(schema: Schema): Schema[] {
  if (schema.allOf !== undefined) return schema.allOf.flatMap(formsOf);
  if (schema.oneOf !== undefined) return schema.oneOf.flatMap(formsOf);
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    const form = definitions[name]!;
    return form.properties === undefined ? [form] : [{ ...form, $ref: schema.$ref }];
  }
  return [schema];
}

const isMap = (form: Schema): boolean => typesOf(form).includes("object") && form.properties === undefined;
/** Of jobs by their names, and not of plain values: edited as text. */
const isMapOfObjects = (form: Schema): boolean =>
  isMap(form) && typeof form.additionalProperties === "object" && formsOf(form.additionalProperties).some((each) => each.properties !== undefined);

function fieldOf(key: string, schema: Schema, within: string[]): Field {
  const text = schema.description ?? "";
  const forms = formsOf(schema);
  const object = forms.find((form) => form.properties !== undefined);
  const field = { key, text };
  if (object !== undefined) {
    const name = object.$ref ?? "";
    if (within.includes(name)) return { ...field, kind: "value" };
    const fields = fieldsOfSchema(object, name === "" ? within : [...within, name]);
    return { ...field, kind: "object", fields, short: forms.length > 1 || forms.some((form) => typesOf(form).includes("string")) };
  }
  const choices = forms.flatMap((form) => form.enum ?? []).map(String);
  if (choices.length > 0) return { ...field, kind: "choice", choices };
  if (forms.some(isMapOfObjects)) return { ...field, kind: "value" };
  if (forms.some(isMap)) return { ...field, kind: "map" };
  const types = new Set(forms.flatMap(typesOf));
  const hint = forms.find((form) => form.description !== undefined)?.description;
  if (types.has("array")) return listField(field, forms, types);
  if (types.has("boolean") && !types.has("number")) return { ...field, kind: key === "when" ? "long" : "truth" };
  if (types.size === 0) return { ...field, kind: "value" };
  if (hint !== undefined) return { ...field, kind: "text", hint };
  if ((types.has("integer") || types.has("number")) && !types.has("boolean")) return { ...field, kind: "number" };
  return { ...field, kind: LONG.has(key) ? "long" : "text" };
}

/** Items that are objects are edited as text; a command, which may be one text, too. */
function listField(field: { key: string; text: string }, forms: Schema[], types: Set<string>): Field {
  const items = forms.flatMap((form) => (form.items === undefined ? [] : formsOf(form.items)));
  if (items.length === 0 || items.some((item) => item.properties !== undefined)) return { ...field, kind: "value" };
  const isCommand = types.has("string") && items.some((item) => typesOf(item).includes("boolean"));
  return isCommand ? { ...field, kind: "long", hint: 'a text, or ["program", "argument"]' } : { ...field, kind: "list" };
}

function fieldsOfSchema(schema: Schema, within: string[]): Field[] {
  return Object.entries(schema.properties ?? {}).map(([key, inner]) => fieldOf(key, inner, within));
}

export function fieldsOf(definition: string): Field[] {
  const schema = definitions[definition];
  if (schema === undefined) throw new Error(`flow files have no ${definition}`);
  return fieldsOfSchema(schema, [`#/$defs/${definition}`]);
}

// ---- groups ----

export interface Group {
  title: string;
  fields: Field[];
}

/** What a job does: exactly one of these keys. */
export const WORK = ["run", "script", "archive", "service", "gate", "external", "http", "noop", "sleep", "fail"];

const JOB_GROUPS: [string, string[]][] = [
  ["What it does", WORK],
  ["Order", ["needs", "when", "foreach", "trigger", "on_upstream", "phase"]],
  ["Attempts and time", ["retries", "backoff", "timeout", "retry_on", "fatal_exit_codes", "delay", "start_at", "start_within", "deadline", "dispatch_timeout", "kill_grace"]],
  ["Environment and files", ["env", "inputs", "artifacts", "stdin", "workdir", "log_limit"]],
  ["Where it runs", ["pool", "topic", "requires", "placement", "resources", "priority", "prefer", "affinity"]],
  ["Bounds", ["limits", "sandbox", "concurrency", "rate", "exclusive"]],
  ["People and undoing", ["approval", "compensate", "cache", "labels"]],
];

const FLOW_GROUPS: [string, string[]][] = [
  ["The flow", ["name", "description", "params", "labels"]],
  ["For all its jobs", ["defaults"]],
  ["Its times and its end", ["timeout", "deadline", "on_success", "on_failure", "finally"]],
  ["Schedule and idempotency", ["key", "key_for", "schedule", "phases", "compensate_on", "trace"]],
];

function grouped(fields: Field[], groups: [string, string[]][]): Group[] {
  const byKey = new Map(fields.map((field) => [field.key, field]));
  const made = groups.map(([title, keys]) => ({ title, fields: keys.map((key) => take(byKey, key)).filter((field) => field !== undefined) }));
  const rest = [...byKey.values()].filter((field) => field.key !== "jobs");
  return rest.length === 0 ? made : [...made, { title: "More", fields: rest }];
}

function take(fields: Map<string, Field>, key: string): Field | undefined {
  const field = fields.get(key);
  fields.delete(key);
  return field;
}

export const jobGroups: Group[] = grouped(fieldsOf("job"), JOB_GROUPS);
export const flowGroups: Group[] = grouped(fieldsOf("flow"), FLOW_GROUPS);

// ---- values as text ----

/** What a field shows of a value that is plain for it; undefined when only a text of JSON can. */
export function textOf(field: Field, value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (field.kind === "list") return (Array.isArray(value) ? value : [value]).map(String).join("\n");
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

/** The value that a text means; undefined takes the key away. Throws in words what is wrong with it. */
export function valueOf(field: Field, text: string): Json | undefined {
  if (text === "") return undefined;
  switch (field.kind) {
    case "number":
      return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text; // else a template
    case "truth":
      return text === "true" ? true : text === "false" ? false : text;
    case "list":
      return listValue(text);
    case "value":
    case "object":
    case "map":
      return looselyJson(text);
    case "long":
      return field.hint !== undefined ? commandValue(text) : text;
    case "text":
    case "choice":
      return text;
  }
}

function listValue(text: string): Json {
  const items = text.split("\n").filter((line) => line !== "");
  return items.length === 1 ? items[0]! : items;
}

/** A list of program and arguments if it is one, else a line for the shell (`[ -f x ]` is one, too). */
function commandValue(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return Array.isArray(value) ? value : text;
  } catch {
    return text;
  }
}

function json(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Error("This is not JSON yet.");
  }
}

/** JSON where it begins like it, else a text. */
function looselyJson(text: string): Json {
  return /^\s*[[{]/.test(text) || /^(true|false|null|-?\d+(\.\d+)?)$/.test(text) ? json(text) : text;
}

/** From a plain text to an object: the text becomes its first key. */
export function objectFrom(field: Field, value: Json | undefined): Json {
  if (isObject(value)) return value;
  const first = field.fields?.[0];
  return value === undefined || first === undefined ? {} : { [first.key]: value };
}
