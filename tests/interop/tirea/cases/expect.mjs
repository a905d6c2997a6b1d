// The common assertions on turns: the frames that the server sent, and what it keeps.
import assert from "node:assert/strict";

export const GREETING = "Hello from the mock, 你好 ☃\nline two.";

/** The texts of the frames of a type, joined. */
export const joined = (frames, type) => frames.filter((frame) => frame.type === type).map(({ data }) => data.delta).join("");

/** The data of the last frame of a type. */
export const last = (frames, type) => frames.findLast((frame) => frame.type === type)?.data;

/** What the server has of a thread in a role, without its placeholders of calls that waited. */
export const storedBy = (messages, role) =>
  messages.filter((message) => message.role === role && !/is awaiting approval\. Execution paused\.$/.test(message.content));

/** Whatever its script: each event once, as the snapshot says, and the turn was requested once. */
export function expectSound(t, report, starts = 1) {
  assert.deepEqual(report.numbers, report.numbers.map((_, at) => at + 1), "each event once");
  assert.ok(report.agrees, "events and snapshot agree");
  assert.equal(report.types.includes("unknown"), false, JSON.stringify(report.events.filter(({ type }) => type === "unknown")));
  assert.equal(t.starts(report.session).length, starts, "starts of the thread");
}

/** A turn that came to its natural end: its text is what the server answered and keeps. */
export function expectAnswered(t, report, { at = 0 } = {}) {
  expectSound(t, report, at + 1);
  const frames = t.frames(report.session, at);
  assert.equal(report.error, null);
  assert.equal(report.status, "done");
  assert.deepEqual(report.snapshot.state.termination, { type: "natural_end" });
  assert.deepEqual(report.snapshot.required_actions, []);
  assert.equal(report.messages.map(({ content }) => content).join(""), joined(frames, "text_delta"));
  assert.equal(report.snapshot.state.output.content, last(frames, "run_finish").result.response);
  assert.equal(report.id, frames[0].run_id);
  assert.deepEqual(report.natives, frames, "the server's own frames");
}
