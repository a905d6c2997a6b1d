import { expect, it } from "vitest";
import { timeIn } from "./clock";

const now = new Date("2026-03-01T20:05:00Z");

it("tells the time of a place", () => {
  expect(timeIn("Asia/Tokyo", now)).toMatch(/^05:05 on Monday,? 2 March 2026$/);
  expect(timeIn("America/New_York", now)).toMatch(/^15:05 on Sunday,? 1 March 2026$/);
  expect(timeIn("UTC", now)).toMatch(/^20:05 on Sunday,? 1 March 2026$/);
});

it("tells the browser's own time, unless it is asked for another", () => {
  expect(timeIn(undefined, now)).toBe(timeIn(Intl.DateTimeFormat().resolvedOptions().timeZone, now));
});

it("says of a zone that there is none", () => {
  const sentence = "There is no time zone “Mars/Base”. Name one as IANA does, such as Asia/Tokyo.";
  expect(() => timeIn("Mars/Base", now)).toThrow(new Error(sentence));
});
