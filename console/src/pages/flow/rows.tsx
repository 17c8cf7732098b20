// A long list with rows of one height, of which only those that are seen exist.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const OVERSCAN = 8; // rows above and below

// Browsers draw elements of some 17 to 33 million pixels at most. A list that would be taller is scaled: its scroll bar
// covers all of it, and each pixel stands for more than one.
const HEIGHT_MAX = 12_000_000;

export interface RowWindow {
  first: number;
  end: number;
  padTop: number; // pixels before the first row
  height: number; // of all of it
}

export function windowOf(count: number, rowHeight: number, scrollTop: number, viewHeight: number): RowWindow {
  const real = count * rowHeight;
  const height = Math.min(real, HEIGHT_MAX);
  const scrollable = Math.max(1, height - viewHeight);
  const realTop = height === real ? scrollTop : (scrollTop / scrollable) * (real - viewHeight);
  const first = Math.max(0, Math.floor(realTop / rowHeight) - OVERSCAN);
  const end = Math.min(count, Math.ceil((realTop + viewHeight) / rowHeight) + OVERSCAN);
  return { first, end, padTop: Math.max(0, first * rowHeight - realTop + scrollTop), height };
}

interface RowsProps {
  count: number;
  rowHeight: number;
  label: string;
  head?: ComponentChildren;
  row: (index: number) => ComponentChildren;
  onWindow?: (first: number, end: number) => void;
  scroller?: RefObject<HTMLDivElement | null>;
}

export function VirtualRows({ count, rowHeight, label, head, row, onWindow, scroller }: RowsProps) {
  const own = useRef<HTMLDivElement>(null);
  const ref = scroller ?? own;
  const [view, setView] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = ref.current!;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const seen = windowOf(count, rowHeight, view.top, view.height);
  useEffect(() => onWindow?.(seen.first, seen.end), [seen.first, seen.end]);
  const indices = Array.from({ length: Math.max(0, seen.end - seen.first) }, (_, i) => seen.first + i);
  return (
    <div class="rows" role="table" aria-label={label} aria-rowcount={count} ref={ref} tabIndex={0}>
      {head}
      <div class="rows-all" role="rowgroup" style={{ height: `${seen.height}px` }}>
        <div class="rows-seen" style={{ transform: `translateY(${seen.padTop}px)` }}>
          {indices.map(row)}
        </div>
      </div>
    </div>
  );
}
