import type { TurnSnapshot } from "turnwire";
import { describe, expect, it } from "vitest";
import { noticesOf, outputOf } from "./news";

const call = (output?: object | null) => ({ id: "c", output });
const turn = (notices?: object[] | null) => ({ notices }) as unknown as TurnSnapshot;
const notice = (code: string, message = "", level = "info") => ({ level, code, message });

describe("what a call puts out", () => {
  it("has a name for each stream", () => {
    expect(outputOf(call({ stdout: "a\n", stderr: "", odd: "b" }))).toEqual([
      { name: "Output", text: "a\n" },
      { name: "odd", text: "b" },
    ]);
    for (const none of [undefined, null, {}]) expect(outputOf(call(none))).toEqual([]);
  });

  it("is shown from the beginning of a line, if it is long", () => {
    const lines = "a line of output\n".repeat(1000);
    const [{ text } = { text: "" }] = outputOf(call({ stdout: lines }));
    expect(text.length).toBeLessThan(8100);
    expect(text).toMatch(/^…\na line of output\n/);
    expect(lines.endsWith(text.slice(2))).toBe(true);
  });
});

describe("notices", () => {
  it("say what happened, then what the server says", () => {
    const told = [notice("item/recovery_opened", "", "warning"), notice("warning", "low on disk", "warning")];
    expect(noticesOf(turn(told))).toEqual([
      { level: "warning", words: "A step failed and is tried again", times: 1 },
      { level: "warning", words: "low on disk", times: 1 },
    ]);
    expect(noticesOf(turn([notice("item/timeout_detected", "idle_deadline_exceeded")]))[0]?.words).toBe(
      "A step took too long: idle deadline exceeded",
    );
    expect(noticesOf(turn([notice("item/recovery_exhausted", "timed out", "error")]))[0]?.words).toBe(
      "No attempt went well: timed out",
    );
  });

  it("that come again in a row are one, and what only machines care for is none", () => {
    const told = [notice("prompt_manifest"), notice("x", "same"), notice("task", "running"), notice("task_event"), notice("x", "same")];
    expect(noticesOf(turn(told))).toEqual([{ level: "info", words: "same", times: 2 }]);
    for (const none of [undefined, null, []]) expect(noticesOf(turn(none))).toEqual([]);
  });
});
