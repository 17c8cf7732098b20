// The bytes of a log, and where its lines begin. A log may be a hundred megabytes: bytes stay bytes, in blocks, and a
// line becomes text only when it is looked at.
import { isPlain, parseLine, PLAIN, styleAfter, textOfSpans, type Span, type Style } from "./ansi";

const BLOCK_BYTES = 1 << 20;
const LINE_BYTES_MAX = 16 * 1024; // what has no line end in so many bytes goes on in the next row
const NEWLINE = 0x0a;
const ESCAPE = 0x1b;

export class LogText {
  byteCount = 0;
  private readonly blocks: Uint8Array[] = [];
  private starts = new Float64Array(1024); // of lines; the last one is still open
  private startCount = 1;
  private readonly styles = new Map<number, Style>(); // of lines that begin in another style than plain
  private sawEscape = false; // in the open line
  private readonly decoder = new TextDecoder();

  /** A last line without its end counts, an empty one behind the last end does not. */
  get lineCount(): number {
    return this.startCount - (this.start(this.startCount - 1) === this.byteCount ? 1 : 0);
  }

  append(bytes: Uint8Array): void {
    this.store(bytes);
    const base = this.byteCount;
    let lineStart = this.start(this.startCount - 1);
    this.byteCount += bytes.length;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === ESCAPE) this.sawEscape = true;
      const next = base + at + 1;
      if (byte === NEWLINE || (next - lineStart >= LINE_BYTES_MAX && !isContinued(bytes[at + 1]))) {
        this.endLine(lineStart, next);
        lineStart = next;
      }
    }
  }

  /** Where the line begins. */
  startOf(line: number): number {
    return this.start(line);
  }

  /** As it was written, without its end. */
  raw(line: number): string {
    const from = this.start(line);
    let to = line + 1 < this.startCount ? this.start(line + 1) : this.byteCount;
    if (to > from && this.byte(to - 1) === NEWLINE) to--;
    return this.text(from, to);
  }

  spans(line: number): Span[] {
    return parseLine(this.raw(line), this.styles.get(line) ?? PLAIN).spans;
  }

  /** What is seen of a line: what search looks at. */
  plain(line: number): string {
    const raw = this.raw(line);
    return /[\x00-\x08\x0b-\x1f\x7f]/.test(raw) ? textOfSpans(parseLine(raw, PLAIN).spans) : raw;
  }

  private start(line: number): number {
    return this.starts[line] ?? 0;
  }

  private endLine(from: number, to: number): void {
    if (this.startCount === this.starts.length) {
      const wider = new Float64Array(this.starts.length * 2);
      wider.set(this.starts);
      this.starts = wider;
    }
    const before = this.styles.get(this.startCount - 1) ?? PLAIN;
    const after = this.sawEscape ? styleAfter(this.text(from, to), before) : before;
    if (!isPlain(after)) this.styles.set(this.startCount, after);
    this.starts[this.startCount++] = to;
    this.sawEscape = false;
  }

  private store(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const at = (this.byteCount + done) % BLOCK_BYTES;
      if (at === 0) this.blocks.push(new Uint8Array(BLOCK_BYTES));
      const part = bytes.subarray(done, done + BLOCK_BYTES - at);
      this.blocks.at(-1)!.set(part, at);
      done += part.length;
    }
  }

  private byte(at: number): number {
    return this.blocks[Math.floor(at / BLOCK_BYTES)]?.[at % BLOCK_BYTES] ?? 0;
  }

  private text(from: number, to: number): string {
    const block = Math.floor(from / BLOCK_BYTES);
    const begin = from - block * BLOCK_BYTES;
    const length = to - from;
    if (begin + length <= BLOCK_BYTES) return this.decoder.decode(this.blocks[block]?.subarray(begin, begin + length));
    const whole = new Uint8Array(length); // over the end of a block: a line is shorter than one
    const first = this.blocks[block]!.subarray(begin);
    whole.set(first);
    whole.set(this.blocks[block + 1]!.subarray(0, length - first.length), first.length);
    return this.decoder.decode(whole);
  }
}

/** Of a character that began before it. */
function isContinued(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
