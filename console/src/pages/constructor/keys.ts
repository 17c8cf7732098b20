// The keyboard of the constructor, as far as no field has it.
import { useEffect, useRef } from "preact/hooks";

import type { Editor } from "./editor";

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Each with its keys as people say them; the page lists them. */
export const shortcuts: [string, string][] = [
  ["Tab", "to the next job or edge"],
  ["Arrows", "move the selected jobs"],
  ["Enter", "to the fields of the job"],
  ["Delete", "remove jobs or edge"],
  ["Ctrl D", "duplicate"],
  ["Ctrl A", "select all"],
  ["Ctrl Z, Ctrl Shift Z", "undo, redo"],
  ["N", "new job behind the selected one"],
  ["Shift drag", "select an area"],
];

function withControl(editor: Editor, event: KeyboardEvent): boolean {
  const key = event.key.toLowerCase();
  if (key === "z") (event.shiftKey ? editor.redo : editor.undo)();
  else if (key === "y") editor.redo();
  else if (key === "d") editor.duplicate();
  else if (key === "a") editor.selectAll();
  else return false;
  return true;
}

function plain(editor: Editor, event: KeyboardEvent): boolean {
  const arrow = ARROWS[event.key];
  if (arrow !== undefined && editor.selected.size > 0) editor.nudge(...arrow);
  else if (event.key === "Delete" || event.key === "Backspace") editor.remove();
  else if (event.key === "Escape") editor.select(new Set());
  else if (event.key === "Enter" && (event.target as HTMLElement).dataset["job"] !== undefined) document.getElementById("job-name")?.focus();
  else if (event.key === "n" && !event.altKey) editor.add();
  else return false;
  return true;
}

export function useKeys(editor: Editor): void {
  const now = useRef(editor); // a key may come before the page has painted what the last one did
  now.current = editor;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (target.closest("input, textarea, select, dialog, summary, nav")) return;
      if (target.closest("button") && event.key !== "Delete") return;
      if (event.ctrlKey || event.metaKey ? withControl(now.current, event) : plain(now.current, event)) event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}
