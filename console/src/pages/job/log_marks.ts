// Which stream each part of a log came from, and when: a line of JSON for each piece that the worker sent.
export interface Mark {
  offset: number;
  bytes: number;
  stream: "out" | "err" | "note";
  time_ms: number;
}

export const MARKS_MAX = 300_000; // of a longer log those of its end are not told apart

export class LogMarks {
  private readonly marks: Mark[] = [];
  private rest = ""; // of a line that is not whole yet

  get count(): number {
    return this.marks.length;
  }

  /** More of the answer of the server. */
  append(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "" && this.marks.length < MARKS_MAX) this.marks.push(JSON.parse(line) as Mark);
  }

  /** The piece that this byte of the log belongs to. */
  at(offset: number): Mark | undefined {
    let low = 0;
    let high = this.marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.marks[middle]!.offset <= offset) low = middle + 1;
      else high = middle;
    }
    const mark = this.marks[low - 1];
    return mark !== undefined && offset < mark.offset + mark.bytes ? mark : undefined;
  }
}
