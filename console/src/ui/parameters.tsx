// The parameters that a flow file declares, each asked for in a field of its type. The server checks every value again,
// with the same words for whoever gives it.
import { Prose } from "./prose";

export interface Parameter {
  name: string;
  type: string; // as in the file; without one, that of its default
  value: string; // to begin with
  needed: boolean; // it has no default
  choices: string[];
  min: string;
  max: string;
  pattern: string;
  text: string; // what it means
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const plain = (value: unknown): string => (value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));

/** A default that only a schedule can fill in. */
const isLate = (value: unknown): boolean => typeof value === "string" && /\$\{(schedule\b|=)/.test(value) && value.includes("schedule");

const typeOf = (value: unknown): string => (typeof value === "number" ? "number" : typeof value === "boolean" ? "boolean" : "string");

/** Those of a file, each with the value that was given before, if one was. */
export function parametersOf(file: unknown, given: Record<string, unknown> = {}): Parameter[] {
  const declared = isObject(file) && isObject(file["params"]) ? file["params"] : {};
  return Object.entries(declared).map(([name, one]) => {
    const it = isObject(one) ? one : { default: one };
    const standard = isLate(it["default"]) ? undefined : (it["default"] ?? undefined);
    return {
      name,
      type: typeof it["type"] === "string" ? it["type"] : typeOf(standard),
      value: plain(given[name] ?? standard),
      needed: standard === undefined,
      choices: Array.isArray(it["choices"]) ? it["choices"].map(String) : [],
      min: plain(it["min"]),
      max: plain(it["max"]),
      pattern: plain(it["pattern"]),
      text: plain(it["description"]),
    };
  });
}

const samples: Record<string, string> = {
  integer: "1", number: "1", boolean: "true", date: "2026-01-01", time: "2026-01-01T00:00:00Z", duration: "1m", list: "[]", object: "{}", json: "null",
};

/** Some value, to check a file whose required parameters nobody has given yet; undefined: one cannot be made up. */
export function sampleOf(parameter: Parameter): string | undefined {
  if (parameter.value !== "") return parameter.value;
  if (parameter.pattern !== "") return undefined;
  return parameter.choices[0] ?? (parameter.min || parameter.max || (samples[parameter.type] ?? "x"));
}

/** What is wrong with a value, as far as it can be told here; "" if nothing is. */
export function problemOf(parameter: Parameter, value: string): string {
  if (value === "") return "";
  if (["list", "object", "json"].includes(parameter.type)) return jsonProblem(parameter.type, value);
  if (parameter.type === "duration" && !/^(\d+(\.\d+)?(ms|s|m|h|d|w))+$|^0$/.test(value)) return "A duration like 90s or 1h30m is expected.";
  if (parameter.type === "time" && !/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(value)) return "A time like 2026-03-31T08:00:00Z is expected.";
  if (parameter.pattern !== "" && !fits(parameter.pattern, value)) return `It must fit ${parameter.pattern}`;
  return "";
}

function jsonProblem(type: string, value: string): string {
  try {
    const read: unknown = JSON.parse(value);
    if (type === "list" && !Array.isArray(read)) return 'A list in JSON is expected, like ["a", "b"].';
    if (type === "object" && !isObject(read)) return 'An object in JSON is expected, like {"a": 1}.';
    return "";
  } catch {
    return "This is not JSON yet.";
  }
}

/** The server's patterns mean the same here; one that this browser cannot read is left to the server. */
function fits(pattern: string, value: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, "u").test(value);
  } catch {
    return true;
  }
}

interface ParameterFieldProps {
  parameter: Parameter;
  value: string;
  onChange: (value: string) => void;
}

type Input = HTMLInputElement | HTMLTextAreaElement;

export function ParameterField({ parameter, value, onChange }: ParameterFieldProps) {
  const { name, type, text, needed, choices, min, max } = parameter;
  const judge = (field: Input | null) => field?.setCustomValidity(problemOf(parameter, value));
  const take = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
  const common = { value, required: needed, onInput: take, ref: judge, spellcheck: false };
  const about = text === "" ? null : <span class="faint"> <Prose text={text} /></span>;
  if (type === "boolean" && choices.length === 0)
    return (
      <label class="check">
        <input type="checkbox" checked={value === "true"} onChange={(event) => onChange(String(event.currentTarget.checked))} />
        <span>{name}{about}</span>
      </label>
    );
  return (
    <label>
      <span>{name}{about}</span>
      {choices.length > 0 ? (
        <select value={value} required={needed} onChange={take}>
          {value === "" && !choices.includes("") ? <option value="">choose…</option> : null}
          {choices.map((choice) => <option key={choice}>{choice}</option>)}
        </select>
      ) : type === "list" || type === "object" || type === "json" ? (
        <textarea {...common} class="mono" rows={2} placeholder="JSON" />
      ) : type === "date" ? (
        <input {...common} type="date" min={min} max={max} />
      ) : type === "integer" || type === "number" ? (
        <input {...common} type="number" step={type === "integer" ? 1 : "any"} min={min} max={max} />
      ) : (
        <input {...common} type="text" placeholder={type === "duration" ? "90s, 1h30m" : type === "time" ? "2026-03-31T08:00:00Z" : ""} />
      )}
    </label>
  );
}

/** The values that are sent: of a form, what is not empty or has no default to fall back on. */
export const valuesOf = (parameters: Parameter[], typed: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    parameters
      .map((one) => [one, typed[one.name] ?? (one.type === "boolean" && one.choices.length === 0 && one.value === "" ? "false" : one.value)] as const)
      .filter(([one, value]) => value !== "" || one.type === "string")
      .map(([one, value]) => [one.name, value]),
  );
