// What is shown of the flows: words, states, a label, a time. All of it is in the address.
import { useEffect, useState } from "preact/hooks";

import type { Query } from "../../api/client";
import { setQuery } from "../../router";
import { serverNow } from "../../ui/parts";
import { useQueryField } from "../../ui/show";
import { SavedFilters } from "./saved";

const states = ["running", "succeeded", "failed", "cancelled"];
const HOUR_MS = 3_600_000;
const spans = [
  { label: "Any time", ms: 0 },
  { label: "Last hour", ms: HOUR_MS },
  { label: "Last day", ms: 24 * HOUR_MS },
  { label: "Last week", ms: 7 * 24 * HOUR_MS },
];

/** What the address asks for, as the server understands it. */
export function queryOf(place: URLSearchParams): Query {
  return {
    text: place.get("q") ?? undefined,
    states: (place.get("states") ?? "").split(",").filter((word) => word !== ""),
    labels: place.getAll("label"),
    since_ms: place.get("since") ?? undefined,
    until_ms: place.get("until") ?? undefined,
  };
}

/** A time for an input of the kind datetime-local, in the viewer's zone. */
function localTime(ms: string | null): string {
  if (ms === null) return "";
  const date = new Date(Number(ms));
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export const FILTERS = ["q", "states", "label", "since", "until"];

/** The filters of the address alone, as an address. */
function filtersOf(query: URLSearchParams): string {
  const kept = new URLSearchParams();
  for (const name of FILTERS) for (const value of query.getAll(name)) kept.append(name, value);
  return kept.toString();
}

export function Filters({ query }: { query: URLSearchParams }) {
  const chosen = new Set((query.get("states") ?? "").split(",").filter((word) => word !== ""));
  const [label, setLabel] = useState(query.get("label") ?? "");
  useEffect(() => setLabel(query.get("label") ?? ""), [query.get("label")]);
  const toggle = (state: string) => {
    if (!chosen.delete(state)) chosen.add(state);
    setQuery({ states: [...chosen].join(",") });
  };
  const timed = (name: string) => (event: { currentTarget: HTMLInputElement }) =>
    setQuery({ [name]: event.currentTarget.value === "" ? null : String(new Date(event.currentTarget.value).getTime()) });
  const some = FILTERS.some((name) => query.has(name));
  const words = useQueryField("q", query.get("q") ?? "");
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          aria-label="Search"
          placeholder="Words in names, labels, errors"
          title="Flows are found by words of their name, labels, jobs and errors; what is typed is searched for at once"
          {...words}
        />
        <div class="chips" role="group" aria-label="States">
          {states.map((state) => (
            <button
              key={state}
              type="button"
              class={`legend-state state-${state}`}
              aria-pressed={chosen.has(state)}
              onClick={() => toggle(state)}
            >
              {state}
            </button>
          ))}
        </div>
        <input
          class="filter-label"
          aria-label="Label"
          placeholder="label=value"
          value={label}
          onInput={(event) => setLabel(event.currentTarget.value)}
          onChange={() => (label === "" || label.includes("=")) && setQuery({ label })}
        />
        <select
          aria-label="Time"
          value=""
          onChange={(event) =>
            setQuery({
              since: event.currentTarget.value === "0" ? null : String(Math.round(serverNow()) - Number(event.currentTarget.value)),
              until: null,
            })
          }
        >
          <option value="" hidden>
            {query.has("since") || query.has("until") ? "Chosen time" : "Any time"}
          </option>
          {spans.map((span) => (
            <option key={span.ms} value={String(span.ms)}>
              {span.label}
            </option>
          ))}
        </select>
        <details class="filter-dates">
          <summary>From, to</summary>
          <div class="row">
            <label>
              From <input type="datetime-local" value={localTime(query.get("since"))} onChange={timed("since")} />
            </label>
            <label>
              To <input type="datetime-local" value={localTime(query.get("until"))} onChange={timed("until")} />
            </label>
          </div>
        </details>
        {some ? (
          <button
            type="button"
            class="quiet"
            onClick={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])))}
          >
            Clear
          </button>
        ) : null}
      </form>
      <SavedFilters query={filtersOf(query)} />
    </>
  );
}

