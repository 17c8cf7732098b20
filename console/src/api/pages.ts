// A list that the server gives in pages: the first ones are fetched again when an event concerns them, further ones are
// added when someone asks for more.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError, get, type Query } from "./client";
import { stream, type StreamEvent } from "./events";

export interface Paged<Row> {
  rows: Row[] | undefined; // none yet
  error: ApiError | undefined;
  loading: boolean;
  more: (() => void) | undefined; // nothing when all are here
  reload: () => void;
}

interface Page<Row> {
  rows: Row[];
  cursor: string | undefined;
}

const SETTLE_MS = 250; // a burst of events is one request

/** A cursor or key is a text, or bytes that are none. */
export function textOf(bytes: string | { base64: string } | undefined): string | undefined {
  return bytes === undefined || typeof bytes === "string" ? bytes : bytes.base64;
}

export async function fetchPages<Row>(
  count: number,
  fetchPage: (cursor: string | undefined) => Promise<Page<Row>>,
): Promise<Page<Row>> {
  let rows: Row[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < count; page++) {
    const got = await fetchPage(cursor);
    rows = rows.concat(got.rows);
    cursor = got.cursor;
    if (cursor === undefined) break;
  }
  return { rows, cursor };
}

interface PagesOf<Answer, Row> {
  path: string | null; // null: nothing is asked
  query?: Query;
  rowsOf: (answer: Answer) => Row[] | undefined;
  cursorOf: (answer: Answer) => string | undefined;
  cursorName?: string;
  wakes?: (event: StreamEvent) => boolean;
  all?: boolean; // not only those that someone asks for
}

const ALL = 1000; // pages

export function usePages<Answer, Row>(of: PagesOf<Answer, Row>): Paged<Row> {
  const [got, setGot] = useState<{ key: string; page: Page<Row> }>();
  const [error, setError] = useState<ApiError>();
  const [loading, setLoading] = useState(true);
  const [ask, setAsk] = useState({ round: 0, pages: 1, key: "" });
  const now = useRef(of);
  now.current = of;
  const key = of.path === null ? "" : of.path + JSON.stringify(of.query ?? {});
  const pages = of.all ? ALL : ask.key === key ? ask.pages : 1;
  const reload = useCallback(() => setAsk((last) => ({ ...last, round: last.round + 1 })), []);

  useEffect(() => {
    const { path, query = {}, rowsOf, cursorOf, cursorName = "cursor" } = now.current;
    if (path === null) return;
    const abort = new AbortController();
    setLoading(true);
    const fetchPage = async (cursor: string | undefined) => {
      const answer = await get<Answer>(path, { ...query, [cursorName]: cursor }, abort.signal);
      return { rows: rowsOf(answer) ?? [], cursor: cursorOf(answer) };
    };
    fetchPages(pages, fetchPage).then(
      (page) => {
        setGot({ key, page });
        setError(undefined);
        setLoading(false);
      },
      (why: unknown) => {
        if (abort.signal.aborted) return;
        setError(why instanceof ApiError ? why : new ApiError(0, "unknown", String(why)));
        setLoading(false);
      },
    );
    return () => abort.abort();
  }, [key, pages, ask.round]);

  useEffect(() => {
    if (key === "" || now.current.wakes === undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = stream.listen((event) => {
      const concerns = event.type === "gap" || event.type === "hello" || now.current.wakes?.(event) === true;
      if (concerns) timer ??= setTimeout(() => ((timer = undefined), reload()), SETTLE_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [key]);

  const page = got?.key === key ? got.page : undefined;
  const more = page?.cursor === undefined ? undefined : () => setAsk((last) => ({ ...last, key, pages: pages + 1 }));
  return { rows: page?.rows, error, loading, more, reload };
}
