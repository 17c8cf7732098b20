// Filters that someone has given a name, kept per browser. Each is an address: a link to it can be sent as any other.
import { useState } from "preact/hooks";

import { Link } from "../../router";
import { ask } from "../../ui/confirm";

const KEY = "reeve.filters";

interface Saved {
  name: string;
  query: string;
}

function read(): Saved[] {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]") as unknown;
    return Array.isArray(kept) ? (kept as Saved[]) : [];
  } catch {
    return [];
  }
}

export function SavedFilters({ query }: { query: string }) {
  const [all, setAll] = useState(read);
  const change = (next: Saved[]) => {
    localStorage.setItem(KEY, JSON.stringify(next));
    setAll(next);
  };
  const isKept = all.some((saved) => saved.query === query);
  const save = async () => {
    const name = await ask({ title: "Save this filter", text: "It is kept in this browser, as a link above the list.", action: "Save", note: "Name" });
    if (name) change([...all.filter((saved) => saved.name !== name), { name, query }]);
  };
  if (all.length === 0 && query === "") return null;
  return (
    <div class="saved-filters" role="group" aria-label="Saved filters">
      {all.map((saved) => (
        <span key={saved.name} class="saved-filter">
          <Link href={`/flows?${saved.query}`} aria-current={saved.query === query ? "true" : undefined}>{saved.name}</Link>
          <button type="button" class="quiet" aria-label={`Remove the filter ${saved.name}`} onClick={() => change(all.filter((each) => each !== saved))}>×</button>
        </span>
      ))}
      {query === "" || isKept ? null : <button type="button" class="quiet small" onClick={() => void save()}>Save this filter…</button>}
    </div>
  );
}
