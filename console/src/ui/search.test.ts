import { expect, test } from "vitest";

import { directHits } from "./search";

test("an id is found without a search", () => {
  expect(directHits("f213")).toEqual([{ kind: "flow", text: "f213", href: "/flows/f213" }]);
  expect(directHits("f213/load")).toEqual([{ kind: "job", text: "f213/load", href: "/jobs/f213/load" }]);
  expect(directHits("f213/work[3]")[0]!.href).toBe("/jobs/f213/work%5B3%5D");
});

test("a word is not an id", () => {
  expect(directHits("fetch")).toEqual([]);
  expect(directHits("f")).toEqual([]);
});
