// Search in a log, a slice of lines at a time, so that the page goes on answering; lines that come later are searched
// when they come. Upper and lower case are the same unless the term has upper case in it.
import type { Span } from "./ansi";
import type { LogText } from "./log_text";

export interface Match {
  line: number;
  from: number; // in the text of the line
  to: number;
}

export const MATCHES_MAX = 100_000; // nobody steps through more

export class LogSearch {
  readonly matches: Match[] = [];
  private nextLine = 0;
  private readonly exact: boolean;

  constructor(
    private readonly log: LogText,
    readonly term: string,
  ) {
    this.exact = term !== term.toLowerCase();
  }

  get full(): boolean {
    return this.matches.length >= MATCHES_MAX;
  }

  /** Searches so many lines; true when there are more. The last line may still grow, so it is looked at when it is over. */
  step(lines: number, over: boolean): boolean {
    const end = over ? this.log.lineCount : this.log.lineCount - 1;
    const to = Math.min(end, this.nextLine + lines);
    for (; this.nextLine < to && !this.full; this.nextLine++)
      for (const [from, until] of findAll(this.log.plain(this.nextLine), this.term, this.exact))
        this.matches.push({ line: this.nextLine, from, to: until });
    return this.nextLine < end && !this.full;
  }

  /** The first match at this line or below; the first of all when there is none. */
  indexFrom(line: number): number {
    let low = 0;
    let high = this.matches.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.matches[middle]!.line < line) low = middle + 1;
      else high = middle;
    }
    return low === this.matches.length ? 0 : low;
  }
}

export function findAll(text: string, term: string, exact: boolean): [number, number][] {
  const found: [number, number][] = [];
  if (term === "") return found;
  const where = exact ? text : text.toLowerCase();
  // a letter whose lower case has another length would shift what comes behind it: rare, and then nothing is marked
  if (where.length !== text.length) return found;
  for (let at = where.indexOf(term); at >= 0; at = where.indexOf(term, at + term.length)) found.push([at, at + term.length]);
  return found;
}

export interface MarkedSpan extends Span {
  mark: boolean;
  current: boolean;
}

/** Spans cut where matches begin and end. */
export function markSpans(spans: Span[], term: string, current: Match | undefined): MarkedSpan[] {
  const text = spans.map((span) => span.text).join("");
  const found = findAll(text, term, term !== term.toLowerCase());
  const cuts = found.flat();
  const marked: MarkedSpan[] = [];
  let at = 0;
  for (const span of spans) {
    const end = at + span.text.length;
    const edges = [at, ...cuts.filter((cut) => cut > at && cut < end), end];
    for (let edge = 0; edge + 1 < edges.length; edge++) {
      const [from, to] = [edges[edge]!, edges[edge + 1]!];
      const within = found.find(([begin, until]) => from >= begin && to <= until);
      const isCurrent = within !== undefined && current !== undefined && within[0] === current.from;
      marked.push({ text: text.slice(from, to), style: span.style, mark: within !== undefined, current: isCurrent });
    }
    at = end;
  }
  return marked;
}
