// The shared store: keys by prefix, and the one that is looked at.
import { useEffect, useState } from "preact/hooks";

import type { PageProps } from "../app";
import type { Schemas } from "../api/client";
import { useGet } from "../api/hooks";
import { textOf, usePages } from "../api/pages";
import { may } from "../api/session";
import { Link, setQuery } from "../router";
import { Ago, Empty, Page, Problem } from "../ui/parts";
import { useQueryField } from "../ui/show";
import { PagedTable, type Column } from "../ui/table";
import { AddKey } from "./store/add";
import { previewOf, type Item } from "./store/change";
import { KeyView } from "./store/key";
import { useKeyChanges } from "./store/watch";
import "./store/store.css";

const nameOf = (item: Item) => textOf(item.key) ?? "";

// `reeve blob put` keeps a blob by a key of its hash: these are many, and of no interest here.
const HOUSEKEEPING = "blob:";
const isHousekeeping = (key: string) => /^blob:[0-9a-f]{64}$/.test(key);

/** Behind all of them, where the next page would begin with one. */
function cursorOf(after: string | undefined, hides: boolean): string | undefined {
  return hides && after !== undefined && isHousekeeping(after) ? `${HOUSEKEEPING}g` : after;
}

function hrefOf(item: Item): string {
  const query = new URLSearchParams(location.search);
  query.set("key", nameOf(item));
  return `/store?${query.toString()}`;
}

const columns: Column<Item>[] = [
  { head: "Key", cell: (item) => <Link href={hrefOf(item)} class="mono">{nameOf(item)}</Link> },
  { head: "Kind", cell: (item) => item.kind },
  { head: "Value", class: "kv-preview", cell: (item) => <span class="mono">{previewOf(item)}</span> },
  { head: "Version", number: true, cell: (item) => item.version },
  { head: "Ends", class: "nowrap", cell: (item) => (item.expires_ms ? <Ago ms={item.expires_ms} /> : "") },
];

/** Asked for by its name, so that a link to it shows it whatever page of the list it is on. */
function Selected({ name, flow, reload, round }: { name: string; flow: string; reload: () => void; round: number }) {
  const got = useGet<Schemas["kv_items"]>("/store", { keys: [name], flow: flow || undefined });
  useEffect(() => {
    if (round > 0) got.reload();
  }, [round]);
  const item = got.data?.items?.[0];
  const both = () => {
    got.reload();
    reload();
  };
  if (got.error) return <Problem error={got.error} retry={got.reload} />;
  if (got.data !== undefined && item === undefined) return <Empty>There is no key <code>{name}</code>.</Empty>;
  return item === undefined ? null : <KeyView item={item} flow={flow} reload={both} />;
}

export default function StorePage({ place }: PageProps) {
  const [adding, setAdding] = useState(false);
  const [round, setRound] = useState(0); // rises when keys changed
  const prefix = place.query.get("prefix") ?? "";
  const flow = place.query.get("flow") ?? "";
  const selected = place.query.get("key");
  const hides = place.query.get("all") === null && !prefix.startsWith(HOUSEKEEPING);
  const prefixField = useQueryField("prefix", prefix);
  const flowField = useQueryField("flow", flow);
  const pages = usePages<Schemas["kv_items"], Item>({
    path: "/store",
    query: { prefix: prefix || undefined, flow: flow || undefined, most: 100 },
    rowsOf: (answer) => (hides ? answer.items?.filter((item) => !isHousekeeping(nameOf(item))) : answer.items),
    cursorOf: (answer) => cursorOf(textOf(answer.after), hides),
    cursorName: "after",
  });
  const live = useKeyChanges(selected === null || selected.startsWith(prefix) ? prefix : "", flow, () => {
    pages.reload();
    setRound((last) => last + 1);
  });
  return (
    <Page title="Store" actions={may("operator", "submitter") ? <button type="button" class="primary" onClick={() => setAdding(true)}>Set a key…</button> : null}>
      <div class="filters">
        <label class="wide">Keys that begin with<input type="search" {...prefixField} placeholder="app/" /></label>
        <label>Of flow (empty: shared)<input type="search" {...flowField} /></label>
        <label class="check">
          <input type="checkbox" checked={!hides} onChange={(event) => (setQuery({ all: event.currentTarget.checked ? "1" : null }), pages.reload())} />
          Keys of blobs, too
        </label>
        <p class="kv-live faint" role="status" data-live={live}>{live ? "" : "○ not connected: changes are not shown"}</p>
      </div>
      <div class={selected === null ? "kv" : "kv two"}>
        <div>
          <PagedTable
            label="Keys" columns={columns} pages={pages} keyOf={nameOf} current={selected ?? undefined}
            empty={prefix === "" ? <>The store is empty. Jobs and people set keys: <code>reeve kv set KEY VALUE</code></> : "No key begins so."}
          />
        </div>
        {selected === null ? null : <Selected key={selected} name={selected} flow={flow} reload={pages.reload} round={round} />}
      </div>
      <AddKey open={adding} flow={flow} prefix={prefix} onClose={() => setAdding(false)} reload={pages.reload} />
    </Page>
  );
}
