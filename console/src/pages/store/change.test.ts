import { describe, expect, it } from "vitest";

import { deleteChange, prettyText, previewOf, setChange } from "./change";

describe("changes", () => {
  it("of what was looked at carry its version", () => {
    expect(setChange("a", "1", 7, undefined)).toEqual({ op: "set", entries: [{ key: "a", value: "1" }], condition: "if_version", version: 7 });
    expect(deleteChange({ key: "a", version: 7 })).toMatchObject({ op: "delete", condition: "if_version", version: 7 });
  });
  it("of a new key want it to be new", () => {
    expect(setChange("a", "1", 0, 99)).toMatchObject({ condition: "if_absent", expires_ms: 99 });
  });
});

describe("values", () => {
  it("that are JSON are laid out, others left alone", () => {
    expect(prettyText('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(prettyText("{broken")).toBe("{broken");
    expect(prettyText("12345678901234567890")).toBe("12345678901234567890");
  });
  it("are shown short in lists", () => {
    expect(previewOf({ kind: "text", value: "x".repeat(500) })).toHaveLength(121);
    expect(previewOf({ kind: "text", value: { base64: "//4=" } })).toBe("base64 //4=");
    expect(previewOf({ kind: "number", number: 5 })).toBe("5");
    expect(previewOf({ kind: "set", number: 3 })).toBe("3 members");
  });
});
