// Fields of deltas that this version does not know: the package delivers them unchanged, also when it reads a delta by
// comparing it with an earlier one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, textOf } from "./support/collect.mjs";
import { events, serveTurn, stream } from "./support/server.mjs";
import { args, call, created, delta, done, finished, frame, frames, message, text } from "./support/wire.mjs";

/** Several deltas each, of one shape. What a list has in it differs from delta to delta. */
const SHAPES = {
  "the same in all": () => ({ tenant: "acme", cost: 0.00031, none: null, tags: ["a", { b: [] }], nested: {} }),
  numbers: (at) => ({ span: at, cost: at / 7, low: -at, digits: 10 ** at }),
  strings: (at) => ({ padding: "x".repeat(at * 30), quoted: `"${at}\\\n`, wide: "é😀".repeat(at), "a name": at }),
  "strings of two widths": (at) => ({ mark: at % 2 ? "plain" : "größer" }),
  containers: (at) => ({ trace: { id: "4bf92f", span: at }, list: Array.from({ length: at }, () => ({ at })) }),
  "a type that changes": (at) => ({ value: [1, "1", null, true, { a: 1 }, [], "", 12][at] }),
  "a time and a number": (at) => ({ created_at: `2026-11-20T09:00:0${at}.000Z`, tenant: "acme", sequence_number: at + 3 }),
  "names of prototypes": (at) => JSON.parse(`{"__proto__": ${at}, "constructor": ${at}, "toString": "same"}`),
};

/** What makes a delta of a piece of text. */
const FIELDS = {
  content: (piece, more) => ({ ...delta(more), content: piece }),
  reasoning_content: (piece, more) => ({ ...delta(more), reasoning_content: piece }),
  tool_calls: (piece, more) => ({ ...args(piece), ...more }),
  "content, before them": (piece, more) => ({ content: piece, ...delta(more) }),
};

const PIECES = ["Hel", "lo", ", ", "wörld", "", '"', "\n", "!"];

/** A turn with these deltas, in one chunk or in many. */
async function play(t, deltas, chunks) {
  const list = [created(), message(), call("c1", "read"), ...deltas, finished(), done()];
  const { turn } = await serveTurn(t, chunks === "one" ? events(...list) : stream(...list.map((event, at) => frame(event, at + 1))));
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  return { turn, got: got.slice(3, 3 + deltas.length) };
}

/** A copy that compares as JSON does, and shows `__proto__`. */
const shown = (event) => JSON.stringify(event);

for (const [shape, fields] of Object.entries(SHAPES)) {
  for (const [field, make] of Object.entries(FIELDS)) {
    test(`${shape}, ${field}`, async (t) => {
      const sent = PIECES.map((piece, at) => make(piece, fields(at)));
      for (const chunks of ["one", "many"]) {
        const { got } = await play(t, sent, chunks);
        const expected = sent.map((event, at) => shown({ ...event, sequence_number: at + 4 }));
        assert.deepEqual(got.map(shown), expected);
        assert.ok(got.every((event) => Object.getPrototypeOf(event) === Object.prototype));
      }
    });
  }
}

test("their text reaches the message", async (t) => {
  const sent = PIECES.map((piece, at) => ({ ...text(piece), span: at }));
  const { turn } = await play(t, sent, "one");
  assert.equal(textOf(turn), PIECES.join(""));
});

test("a page that changes an event changes no other", async (t) => {
  const { got } = await play(t, PIECES.map((piece) => ({ ...text(piece), tags: ["a"], tenant: "acme" })), "one");
  got[0].tenant = "mine";
  assert.throws(() => got[1].tags.push("b"), TypeError);
  assert.deepEqual(got.map(({ tags }) => tags), PIECES.map(() => ["a"]));
  assert.deepEqual(got.map(({ tenant }) => tenant), ["mine", ...PIECES.slice(1).map(() => "acme")]);
});

test("repeated fields count as in JSON", async (t) => {
  const sent = PIECES.map((piece, at) => ({ ...text(piece), span: at, cost: 1 }));
  const doubled = frames([created(), message(), ...sent, finished(), done()]).replaceAll('"cost":1', '"cost":1,"span":"last"');
  const { turn } = await serveTurn(t, stream(doubled));
  const { events: got } = await collect(turn.stream());
  assert.deepEqual(got.slice(2, 2 + sent.length).map(({ span }) => span), PIECES.map(() => "last"));
});
