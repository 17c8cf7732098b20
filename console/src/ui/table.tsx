// The table of every list: rows in the server's order, a head that stays, on a phone a card per row.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import type { Paged } from "../api/pages";
import { Empty, Loading, Problem } from "./parts";
import "./table.css";

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ComponentChildren;
  number?: boolean;
  class?: string;
  key?: string; // it can be sorted by
}

export interface Selection {
  has: (key: string) => boolean;
  set: (keys: string[], on: boolean) => void;
}

/** The keys that are selected, what tables and rows want of them, and how to forget them. */
export function useSelection(): [Set<string>, Selection, () => void] {
  const [picked, setPicked] = useState(new Set<string>());
  const set = (keys: string[], on: boolean) =>
    setPicked((last) => {
      const next = new Set(last);
      for (const key of keys) if (on) next.add(key); else next.delete(key);
      return next;
    });
  return [picked, { has: (key) => picked.has(key), set }, () => setPicked(new Set())];
}

interface TableProps<Row> {
  label: string; // for who cannot see it
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  selection?: Selection | undefined;
  actions?: (row: Row) => ComponentChildren;
  current?: string | undefined; // key of the row that is shown elsewhere on the page
  rowClass?: (row: Row) => string | undefined;
  sort?: string; // key of the column by which the rows are sorted
  onSort?: (key: string | null) => void; // null: as the server has them
  below?: (row: Row) => ComponentChildren; // a row that is opened shows more
}

function Picker({ keys, selection, label }: { keys: string[]; selection: Selection; label: string }) {
  const count = keys.filter(selection.has).length;
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={count > 0 && count === keys.length}
      ref={(box) => {
        if (box !== null) box.indeterminate = count > 0 && count < keys.length;
      }}
      onChange={(event) => selection.set(keys, event.currentTarget.checked)}
    />
  );
}

const classOf = <Row,>(column: Column<Row>) => [column.number ? "number" : "", column.class ?? ""].join(" ").trim() || undefined;

function Cells<Row>({ of, row }: { of: TableProps<Row>; row: Row }) {
  const key = of.keyOf(row);
  return (
    <>
      {of.selection ? <td class="pick"><Picker keys={[key]} selection={of.selection} label={`Select ${key}`} /></td> : null}
      {of.columns.map((column) => (
        <td key={column.head} class={classOf(column)} data-head={column.head}><div class="cell">{column.cell(row)}</div></td>
      ))}
      {of.actions ? <td class="row-actions">{of.actions(row)}</td> : null}
    </>
  );
}

function HeadCell<Row>({ of, column }: { of: TableProps<Row>; column: Column<Row> }) {
  const { key, head } = column;
  if (of.onSort === undefined || key === undefined) return <th scope="col" class={classOf(column)}>{head}</th>;
  const isSorted = of.sort === key;
  return (
    <th scope="col" class={classOf(column)} aria-sort={isSorted ? "ascending" : "none"}>
      <button type="button" class="quiet" onClick={() => of.onSort?.(isSorted ? null : key)}>{head}{isSorted ? " ↓" : ""}</button>
    </th>
  );
}

export function Table<Row>(of: TableProps<Row>) {
  const width = of.columns.length + (of.selection ? 1 : 0) + (of.actions ? 1 : 0);
  return (
    <div class="table-frame">
      <table class="list" aria-label={of.label}>
        <thead>
          <tr>
            {of.selection ? (
              <th class="pick"><Picker keys={of.rows.map(of.keyOf)} selection={of.selection} label="Select all that are shown" /></th>
            ) : null}
            {of.columns.map((column) => <HeadCell key={column.head} of={of} column={column} />)}
            {of.actions ? <th class="row-actions"><span class="unseen">Actions</span></th> : null}
          </tr>
        </thead>
        <tbody>
          {of.rows.map((row) => {
            const key = of.keyOf(row);
            const below = of.below?.(row);
            return [
              <tr key={key} data-row={key} class={of.rowClass?.(row)} aria-current={of.current === key ? "true" : undefined}>
                <Cells of={of} row={row} />
              </tr>,
              below ? <tr key={`${key} below`} class="below"><td colSpan={width}>{below}</td></tr> : null,
            ];
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A list in pages: what there is of it, and what stands in its place when there is nothing. */
export function PagedTable<Row>({ pages, empty, ...table }: Omit<TableProps<Row>, "rows"> & { pages: Paged<Row>; empty: ComponentChildren }) {
  const { rows, error, loading, more, reload } = pages;
  if (rows === undefined) return error ? <Problem error={error} retry={reload} /> : <Loading />;
  return (
    <>
      {error ? <Problem error={error} retry={reload} /> : null}
      {rows.length === 0 ? <Empty>{empty}</Empty> : <Table {...table} rows={rows} />}
      {more ? <p class="more"><button type="button" disabled={loading} onClick={more}>{loading ? "Loading…" : "More"}</button></p> : null}
    </>
  );
}
