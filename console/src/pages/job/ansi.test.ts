import { describe, expect, it } from "vitest";

import { applyParams, cssColour, parseLine, PLAIN, styleAfter, textOfSpans } from "./ansi";

const ESC = "\x1b";
const parse = (raw: string) => parseLine(raw, PLAIN);

describe("styles", () => {
  it("knows the sixteen colours, bright ones and grounds", () => {
    expect(applyParams(PLAIN, "31")).toEqual({ fg: 1 });
    expect(applyParams(PLAIN, "97")).toEqual({ fg: 15 });
    expect(applyParams(PLAIN, "44")).toEqual({ bg: 4 });
    expect(applyParams(PLAIN, "101")).toEqual({ bg: 9 });
  });
  it("knows 256 colours and true ones, with semicolons and with colons", () => {
    expect(applyParams(PLAIN, "38;5;208")).toEqual({ fg: 208 });
    expect(applyParams(PLAIN, "48;2;1;2;255")).toEqual({ bg: "#0102ff" });
    expect(applyParams(PLAIN, "38:2::16:32:48")).toEqual({ fg: "#102030" });
    expect(applyParams(PLAIN, "38:5:9;1")).toEqual({ fg: 9, bold: true });
    expect(applyParams(PLAIN, "38;5;999")).toBe(PLAIN);
  });
  it("adds up, takes back and begins anew", () => {
    const style = applyParams(PLAIN, "1;3;4;7;9;32");
    expect(style).toEqual({ bold: true, italic: true, underline: true, inverse: true, strike: true, fg: 2 });
    expect(applyParams(style, "22;23;24;27;29;39")).toBe(PLAIN);
    expect(applyParams(style, "")).toBe(PLAIN);
    expect(applyParams(style, "0;2")).toEqual({ dim: true });
  });
});

describe("lines", () => {
  it("are spans of one style each", () => {
    const { spans, end } = parse(`a ${ESC}[1;31mred${ESC}[0m b`);
    expect(spans).toEqual([
      { text: "a ", style: PLAIN },
      { text: "red", style: { bold: true, fg: 1 } },
      { text: " b", style: PLAIN },
    ]);
    expect(end).toBe(PLAIN);
  });
  it("begin in the style in which the one before ended", () => {
    const first = parse(`${ESC}[32mgreen`);
    expect(first.end).toEqual({ fg: 2 });
    expect(parseLine("still", first.end).spans).toEqual([{ text: "still", style: { fg: 2 } }]);
    expect(styleAfter(`${ESC}[32mgreen`, PLAIN)).toEqual(first.end);
  });
  it("leave out what only a terminal can obey", () => {
    expect(textOfSpans(parse(`${ESC}]0;title\x07a${ESC}[2Kb${ESC}[?25lc${ESC}(Bd\x07${ESC}[10;5He`).spans)).toBe("abcde");
    expect(textOfSpans(parse(`${ESC}]8;;http://x${ESC}\\link${ESC}]8;;${ESC}\\`).spans)).toBe("link");
  });
  it("end with nothing of a sequence that was cut", () => {
    expect(textOfSpans(parse(`a${ESC}`).spans)).toBe("a");
    expect(textOfSpans(parse(`a${ESC}[3`).spans)).toBe("a3"); // of what is no sequence, no letter is lost
  });
  it("begin anew at a carriage return, but not at the last", () => {
    expect(textOfSpans(parse("10%\r20%\r30%").spans)).toBe("30%");
    expect(textOfSpans(parse("dos\r").spans)).toBe("dos");
    expect(parse(`${ESC}[31m1\r2`).spans).toEqual([{ text: "2", style: { fg: 1 } }]);
  });
  it("keep tabs and all of Unicode", () => {
    expect(textOfSpans(parse("a\tü 🌍 \u202e").spans)).toBe("a\tü 🌍 \u202e");
  });
});

describe("colours of xterm", () => {
  it("are a cube and greys", () => {
    expect(cssColour(16)).toBe("#000000");
    expect(cssColour(208)).toBe("#ff8700");
    expect(cssColour(231)).toBe("#ffffff");
    expect(cssColour(232)).toBe("#080808");
    expect(cssColour(255)).toBe("#eeeeee");
    expect(cssColour("#123456")).toBe("#123456");
  });
});
