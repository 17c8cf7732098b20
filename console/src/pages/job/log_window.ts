// Which lines of a log are in sight, for where the scroll bar is.

export const ROW_PX = 19; // also in job.css
const HEIGHT_PX_MAX = 8_000_000; // browsers lay out no element that is much higher; beyond it the bar stands for more
export const NEAR_PX = 4;

/** The first line in sight, and how far it is above the upper edge. */
export function windowOf(scrollTop: number, lines: number, viewPx: number): { first: number; overPx: number; heightPx: number; atEnd: boolean } {
  const allPx = lines * ROW_PX;
  const heightPx = Math.min(allPx, HEIGHT_PX_MAX);
  const ratio = heightPx > viewPx ? (allPx - viewPx) / (heightPx - viewPx) : 0;
  const topPx = Math.max(0, scrollTop * ratio);
  return { first: Math.floor(topPx / ROW_PX), overPx: topPx % ROW_PX, heightPx, atEnd: scrollTop + viewPx >= heightPx - NEAR_PX };
}

/** Where to scroll to see a line, or a part of it, at the upper edge. */
export function scrollTopOf(line: number, lines: number, viewPx: number): number {
  const allPx = lines * ROW_PX;
  const heightPx = Math.min(allPx, HEIGHT_PX_MAX);
  if (heightPx <= viewPx) return 0;
  const topPx = Math.min(Math.max(0, line * ROW_PX), allPx - viewPx);
  return (topPx * (heightPx - viewPx)) / (allPx - viewPx);
}
