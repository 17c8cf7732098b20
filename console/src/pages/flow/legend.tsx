// The states that there are, with counts. A state that is pressed is shown alone; the choice is in the address.
import { setQuery } from "../../router";
import { jobStates, stateInfo } from "../../ui/states";

export const statesChosen = (query: URLSearchParams): ReadonlySet<string> =>
  new Set((query.get("states") ?? "").split(",").filter((word) => word !== ""));

export function Legend({ counts, chosen }: { counts: ReadonlyMap<string, number>; chosen: ReadonlySet<string> }) {
  const present = jobStates.filter((state) => (counts.get(state.name) ?? 0) > 0 || chosen.has(state.name));
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    setQuery({ states: [...next].join(",") });
  };
  return (
    <div class="legend" role="group" aria-label="States">
      {present.map(({ name }) => (
        <button
          key={name}
          type="button"
          class={`legend-state state-${name}`}
          aria-pressed={chosen.has(name)}
          onClick={() => toggle(name)}
        >
          <span aria-hidden="true">{stateInfo(name).sign}</span> {stateInfo(name).label}{" "}
          <b>{(counts.get(name) ?? 0).toLocaleString()}</b>
        </button>
      ))}
      {chosen.size > 0 ? (
        <button type="button" class="quiet" onClick={() => setQuery({ states: null })}>
          All
        </button>
      ) : null}
    </div>
  );
}
