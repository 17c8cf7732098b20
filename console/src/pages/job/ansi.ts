// What programs mean by escape sequences: colours and weights become spans of text, everything else that a terminal
// would obey (cursor moves, titles) is left out. A carriage return begins the line anew, as progress bars want it.

/** 0..15 are the colours of the theme, 16..255 the cube and greys of xterm, a text is "#rrggbb". */
export type Colour = number | string;

export interface Style {
  readonly fg?: Colour | undefined;
  readonly bg?: Colour | undefined;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly inverse?: boolean;
  readonly strike?: boolean;
}

export interface Span {
  text: string;
  style: Style;
}

export const PLAIN: Style = Object.freeze({});

export function isPlain(style: Style): boolean {
  return style === PLAIN;
}

const on: Record<number, Partial<Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { fg: undefined },
  49: { bg: undefined },
};

const hex2 = (value: number) => Math.min(255, Math.max(0, value)).toString(16).padStart(2, "0");

/** `38;5;N` and `38;2;R;G;B` from their third number on: the colour, and how many numbers it took. */
function extendedColour(codes: number[]): [Colour | undefined, number] {
  if (codes[0] === 5) return [codes[1] !== undefined && codes[1] < 256 ? codes[1] : undefined, 2];
  if (codes[0] === 2) return [`#${hex2(codes[1] ?? 0)}${hex2(codes[2] ?? 0)}${hex2(codes[3] ?? 0)}`, 4];
  return [undefined, 1];
}

function basicColour(code: number): Partial<Style> | undefined {
  if (code >= 30 && code <= 37) return { fg: code - 30 };
  if (code >= 40 && code <= 47) return { bg: code - 40 };
  if (code >= 90 && code <= 97) return { fg: code - 82 };
  if (code >= 100 && code <= 107) return { bg: code - 92 };
  return undefined;
}

function tidied(style: Style): Style {
  const kept = Object.entries(style).filter(([, value]) => value !== undefined && value !== false);
  return kept.length === 0 ? PLAIN : (Object.fromEntries(kept) as Style);
}

/** The style after `ESC [ params m`. */
export function applyParams(style: Style, params: string): Style {
  // 38:2::R:G:B is the same with colons, and may have an empty colour space
  const codes = params.replace(/([34]8:2):(\d*):(\d+:\d+:\d+)/g, "$1:$3").split(/[;:]/).map(Number);
  let now: Style = style;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) now = PLAIN;
    else if (code === 38 || code === 48) {
      const [colour, taken] = extendedColour(codes.slice(at + 1));
      now = { ...now, [code === 38 ? "fg" : "bg"]: colour };
      at += taken;
    } else now = { ...now, ...(on[code] ?? basicColour(code)) };
  }
  return tidied(now);
}

// CSI with its end; a string (title, link) with its end; ESC and one or two more; the rest of the controls but tab
const sequence = /\x1b\[([0-9;:<=>?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|([\x00-\x08\x0a-\x1a\x1c-\x1f\x7f])/g;

/** A line as spans, beginning in the style in which the line before it ended. */
export function parseLine(raw: string, start: Style): { spans: Span[]; end: Style } {
  let spans: Span[] = [];
  let style = start;
  let from = 0;
  const keep = (to: number) => {
    if (to > from) spans.push({ text: raw.slice(from, to), style });
  };
  const end = raw.endsWith("\r") ? raw.length - 1 : raw.length;
  for (const found of raw.matchAll(sequence)) {
    if (found.index >= end) break;
    keep(found.index);
    from = found.index + found[0].length;
    if (found[2] === "m" && !/[<=>?]/.test(found[1] ?? "")) style = applyParams(style, found[1] ?? "");
    if (found[3] === "\r") spans = [];
  }
  keep(end);
  return { spans, end: style };
}

/** The style in which a line ends, without making its spans. */
export function styleAfter(raw: string, start: Style): Style {
  let style = start;
  for (const found of raw.matchAll(/\x1b\[([0-9;:]*)m/g)) style = applyParams(style, found[1] ?? "");
  return style;
}

const levels = [0, 95, 135, 175, 215, 255];

/** A colour beyond the sixteen of the theme, as CSS. */
export function cssColour(colour: Colour): string {
  if (typeof colour === "string") return colour;
  if (colour >= 232) {
    const grey = hex2(8 + (colour - 232) * 10);
    return `#${grey}${grey}${grey}`;
  }
  const cube = colour - 16;
  return `#${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => hex2(levels[step] ?? 0)).join("")}`;
}

export function textOfSpans(spans: Span[]): string {
  return spans.map((span) => span.text).join("");
}
