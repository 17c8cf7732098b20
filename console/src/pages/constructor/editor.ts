// The draft with its history and what is selected in it, and everything that can be done to it.
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";

import { say } from "../../ui/toast";
import {
  addJob, connect, disconnect, draftOf, duplicateJobs, moveJobs, removeJobs, renameJob, setFlowKey, setJobKey, whyNoEdge,
  type Draft, type Edge, type Json,
} from "./draft";
import { WORK } from "./fields";
import { begin, change, redo, undo, type History } from "./history";
import { keep, kept } from "./kept";
import { NODE_HEIGHT, arrange, boxOf } from "./layout";
import { templates } from "./templates";

interface Selection {
  names: ReadonlySet<string>;
  edge: Edge | undefined;
}

const NOTHING: Selection = { names: new Set(), edge: undefined };
const GRID = 20;
const STARTING: Record<string, Json> = {
  run: "echo hello", script: { text: "#!/bin/sh\necho hello\n", name: "hello.sh" }, archive: "", service: "sleep infinity", gate: { message: "Go on?" },
  external: "a word from outside", http: "https://example.org/", noop: true, sleep: "5s", fail: 1,
};

const first = (): Draft => kept() ?? draftOf(templates[1]!.file, (draft) => arrange(draft));

export function useEditor() {
  const [history, setHistory] = useState<History<Draft>>(() => begin(first()));
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [shown, setShown] = useState(0);
  const draft = history.now;
  useEffect(() => keep(draft), [draft]);

  const become = useCallback((next: (draft: Draft) => Draft, mark = "") => setHistory((now) => change(now, next(now.now), mark)), []);
  const select = useCallback((names: ReadonlySet<string>, edge?: Edge) => setSelection({ names, edge }), []);

  return useMemo(() => {
    const { names, edge } = selection;
    const alive = new Set([...names].filter((name) => draft.jobs.some((job) => job.name === name)));
    const only = alive.size === 1 ? draft.jobs.find((job) => alive.has(job.name)) : undefined;
    return {
      draft, selected: alive as ReadonlySet<string>, edge, only, shown, select,
      canUndo: history.past.length > 0,
      canRedo: history.future.length > 0,
      undo: () => setHistory(undo),
      redo: () => setHistory(redo),
      selectAll: () => select(new Set(draft.jobs.map((job) => job.name))),

      /** In place of all that is drawn, brought into view. */
      load: (file: Json) => {
        const next = draftOf(file, (draft) => arrange(draft));
        become(() => next);
        select(new Set());
        setShown((n) => n + 1);
      },
      /** The text beside the drawing was changed. */
      retext: (file: Json) => {
        const next = draftOf(file, (now) => arrange(now), draft);
        become(() => next, "text");
      },
      clear: () => {
        become(() => ({ flow: {}, jobs: [] }));
        select(new Set());
      },
      arrange: () => {
        become((now) => arrange(now));
        setShown((n) => n + 1);
      },
      add: (at?: { x: number; y: number }) => {
        const box = boxOf(draft.jobs);
        const place = at ?? (only !== undefined ? { x: only.x, y: only.y + 2 * NODE_HEIGHT } : { x: box.x, y: draft.jobs.length === 0 ? 0 : box.y + box.height + 40 });
        const [next, name] = addJob(draft, { x: Math.round(place.x), y: Math.round(at === undefined ? place.y : place.y - NODE_HEIGHT / 2) });
        become(() => (at === undefined && only !== undefined ? connect(next, only.name, name) : next));
        select(new Set([name]));
      },
      remove: () => {
        if (edge !== undefined) become((now) => disconnect(now, edge));
        else if (alive.size > 0) become((now) => removeJobs(now, alive));
        select(new Set());
      },
      duplicate: () => {
        if (alive.size === 0) return;
        const [next, copies] = duplicateJobs(draft, alive);
        become(() => next);
        select(copies);
      },
      move: (dx: number, dy: number, mark: string) => become((now) => moveJobs(now, alive, dx, dy), mark),
      nudge: (dx: number, dy: number) => become((now) => moveJobs(now, alive, dx * GRID, dy * GRID), "nudge"),
      connect: (from: string, to: string) => {
        const why = whyNoEdge(draft, from, to);
        if (why !== undefined) say(why, from !== to);
        else become((now) => connect(now, from, to));
      },
      disconnect: (from: string, to: string) => become((now) => disconnect(now, { from, to })),
      rename: (name: string) => {
        if (only === undefined) return;
        become((now) => renameJob(now, only.name, name), `rename ${draft.jobs.indexOf(only)}`);
        select(new Set([name]));
      },
      setKey: (path: string[], value: Json | undefined) => {
        const mark = `key ${only?.name ?? ""} ${path.join(".")}`;
        if (only === undefined) become((now) => setFlowKey(now, path, value), mark);
        else become((now) => setJobKey(now, only.name, path, value), mark);
      },
      setWork: (kind: string) => {
        if (only === undefined) return;
        const name = only.name;
        become((now) => WORK.reduce((next, key) => setJobKey(next, name, [key], key === kind ? STARTING[kind] : undefined), now));
      },
    };
  }, [history, selection, shown]);
}

export type Editor = ReturnType<typeof useEditor>;
