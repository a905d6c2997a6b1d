// The common assertions on turns.
import assert from "node:assert/strict";

export const GREETING = "Hello from the mock, 你好 ☃\nline two.";

/** The text that `SAY` makes of a word. */
export const said = (word, count) => Array.from({ length: count }, (_, at) => `${word}-${String(at).padStart(2, "0")} `).join("");

/** Whatever its script: each event once, as the snapshot says, and none that is not known. */
export function expectSound(report) {
  assert.deepEqual(report.numbers, report.numbers.map((_, at) => at + 1), "each event once");
  assert.ok(report.agrees, "events and snapshot agree");
  const unknown = report.events.filter(({ type }) => type === "unknown");
  assert.deepEqual(unknown, []);
  assert.equal(report.types.filter((type) => type === "turn.created").length, 1);
  assert.equal(report.types.filter((type) => type === "turn.done").length, 1);
}

/** A turn that came to its natural end with this answer, the last of its messages. */
export function expectAnswered(report, text) {
  expectSound(report);
  assert.equal(report.error, null);
  assert.equal(report.status, "done");
  assert.deepEqual(report.snapshot.required_actions, []);
  assert.equal(report.messages.at(-1).content, text);
  assert.equal(report.snapshot.state.output.content, text);
}
