import { expect, it } from "vitest";
import { missingWords, resumedWords, tryingWords, waitingHint, waitingWords } from "./words";

it("names the events that are missing", () => {
  expect(missingWords([{ after: 4, next: 6 }])).toBe("event 5");
  expect(missingWords([{ after: 57, next: 62 }])).toBe("events 58 to 61");
  expect(
    missingWords([
      { after: 4, next: 6 },
      { after: 57, next: 62 },
    ]),
  ).toBe("events 5 and 58 to 61");
});

it("lists a few gaps only", () => {
  const gaps = Array.from({ length: 9 }, (_, index) => ({ after: index * 10, next: index * 10 + 2 }));
  expect(missingWords(gaps)).toBe("events 1, 11, 21, 31, 41 and 4 more");
});

it("says that nothing was lost only where that is so", () => {
  expect(resumedWords({ resumes: 1, after: 123, gaps: [] })).toBe("Resumed after event 123, nothing lost");
  const gap = { after: 123, next: 130 };
  expect(resumedWords({ resumes: 2, after: 123, gaps: [gap] })).toBe("Resumed after event 123");
  expect(resumedWords({ resumes: 3, after: 150, gaps: [gap] })).toBe("Resumed after event 150, nothing lost");
});

it("counts the tries to get a lost connection back", () => {
  const trying = (attempt: number) => ({ attempt, delay: 3, cause: new Error("cut") as never });
  expect(tryingWords(trying(1))).toBe("Connection lost, trying again …");
  expect(tryingWords(trying(2))).toBe("Connection lost, trying again (2) …");
});

it("speaks of no connection while an answer is only waited for", () => {
  expect(waitingWords({ for: "turn", delay: 2000 })).toBe("The agent is working; its answer comes when it is done …");
  expect(waitingHint({ for: "turn", delay: 2000 })).toBeUndefined();
  expect(waitingWords({ for: "history", delay: 2000 })).toBe("Waiting for the rest of the answer …");
  expect(waitingHint({ for: "history", delay: 2000 })).toContain("does not say");
  expect(waitingWords({ for: "events", delay: 500 })).toBe("Reading the rest of the answer …");
});
