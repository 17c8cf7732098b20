import { expect, it } from "vitest";

import { expressionOf, momentOf } from "./expression";

it("writes when as the server reads it", () => {
  expect(expressionOf({ when: "cron", value: " 30 3 * * * ", zone: "Europe/Berlin" })).toBe("cron 30 3 * * *; zone Europe/Berlin");
  expect(expressionOf({ when: "cron", value: "@daily", zone: "" })).toBe("cron @daily");
  expect(expressionOf({ when: "every", value: "5m", zone: "Europe/Berlin" })).toBe("every 5m");
});

it("turns local time into a moment", () => {
  expect(Date.parse(momentOf("2027-01-01T08:30"))).toBe(new Date(2027, 0, 1, 8, 30).getTime());
  expect(momentOf("2027-01-01T08:30")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});
