// A list that is as long as it likes, of which only the pages around the view are kept. Of the others their cursor and
// their length are known, so that they can be asked for again: memory does not grow with what was scrolled through
// (but for some bytes per page).
export interface PageOf<Row> {
  rows: Row[];
  cursor: string | undefined; // of the next page; undefined: this was the last
}

interface Slot<Row> {
  cursor: string | undefined; // by which it is asked for
  start: number; // index of its first row
  count: number;
  rows: Row[] | undefined;
  usedAt: number;
}

const PAGES_KEPT = 12;

export class Pager<Row> {
  error: unknown;
  private slots: Slot<Row>[] = [];
  private next: string | undefined; // cursor behind the last slot
  private ended = false;
  private round = 0; // answers of an older round are late
  private readonly asked = new Set<string>(); // cursors under way
  private uses = 0;

  constructor(
    private readonly fetch: (cursor: string | undefined) => Promise<PageOf<Row>>,
    private readonly changed: () => void,
  ) {
    this.reset();
  }

  /** Rows that are known to be there. */
  get known(): number {
    const last = this.slots.at(-1);
    return last === undefined ? 0 : last.start + last.count;
  }

  /** False: there are more than are known. */
  get complete(): boolean {
    return this.ended;
  }

  get started(): boolean {
    return this.slots.length > 0;
  }

  get rowsKept(): number {
    return this.slots.reduce((sum, slot) => sum + (slot.rows?.length ?? 0), 0);
  }

  /** undefined: not here yet, or no longer. */
  row(index: number): Row | undefined {
    const slot = this.slotOf(index);
    return slot?.rows?.[index - slot.start];
  }

  /** The view is about to show these. */
  want(first: number, end: number): void {
    for (const slot of this.slotsIn(first, end)) {
      slot.usedAt = ++this.uses;
      if (slot.rows === undefined) this.askSlot(slot);
    }
    if (end >= this.known && !this.ended && this.slots.length > 0) this.askNext();
    this.forget();
  }

  /** Something of these changed: they are asked for again, and shown as they are until then. */
  refresh(first: number, end: number): void {
    for (const slot of this.slotsIn(first, end)) if (slot.rows !== undefined) this.askSlot(slot);
  }

  /** From the beginning. What is shown stays until the first page is there. */
  reset(): void {
    const round = ++this.round;
    this.asked.clear();
    this.run(undefined, round, (page) => {
      this.slots = [{ cursor: undefined, start: 0, count: page.rows.length, rows: page.rows, usedAt: ++this.uses }];
      this.next = page.cursor;
      this.ended = page.cursor === undefined;
    });
  }

  close(): void {
    this.round++;
  }

  private slotOf(index: number): Slot<Row> | undefined {
    let low = 0;
    let high = this.slots.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const slot = this.slots[middle]!;
      if (index < slot.start) high = middle;
      else if (index >= slot.start + slot.count) low = middle + 1;
      else return slot;
    }
    return undefined;
  }

  private slotsIn(first: number, end: number): Slot<Row>[] {
    const found: Slot<Row>[] = [];
    for (let index = first; index < end;) {
      const slot = this.slotOf(index);
      if (slot === undefined) break;
      found.push(slot);
      index = slot.start + slot.count;
    }
    return found;
  }

  private askSlot(slot: Slot<Row>): void {
    this.run(slot.cursor, this.round, (page) => {
      slot.rows = page.rows;
      slot.usedAt = ++this.uses;
      if (page.rows.length === slot.count) return;
      slot.count = page.rows.length; // a filter fits fewer of them now
      let start = 0;
      for (const each of this.slots) {
        each.start = start;
        start += each.count;
      }
    });
  }

  private askNext(): void {
    this.run(this.next, this.round, (page) => {
      const start = this.known;
      this.slots.push({ cursor: this.next, start, count: page.rows.length, rows: page.rows, usedAt: ++this.uses });
      this.next = page.cursor;
      this.ended = page.cursor === undefined;
    });
  }

  private run(cursor: string | undefined, round: number, take: (page: PageOf<Row>) => void): void {
    const key = cursor ?? "";
    if (this.asked.has(key)) return;
    this.asked.add(key);
    const settle = (then: () => void) => {
      if (round !== this.round) return;
      this.asked.delete(key);
      then();
      this.changed();
    };
    this.fetch(cursor).then(
      (page) =>
        settle(() => {
          this.error = undefined;
          take(page);
        }),
      (why: unknown) => settle(() => (this.error = why)),
    );
  }

  private forget(): void {
    const kept = this.slots.filter((slot) => slot.rows !== undefined).sort((a, b) => b.usedAt - a.usedAt);
    for (const slot of kept.slice(PAGES_KEPT)) slot.rows = undefined;
  }
}
