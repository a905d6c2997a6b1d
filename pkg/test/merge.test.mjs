// Merging deltas by hand: the conformance cases that the index runs too, and the builder.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isEventDelta, mergeEventDelta, ModelMessageBuilder, TurnwireError } from "../dist/index.js";
import { collect, failure } from "./support/collect.mjs";
import { events, serveTurn } from "./support/server.mjs";
import { args, call, created, delta, done, finished, message, text } from "./support/wire.mjs";

const cases = JSON.parse(readFileSync(join(import.meta.dirname, "..", "..", "tests", "conformance", "merge.json"), "utf8"));

/** Drops empty members, from the inside out. Lists keep their holes. */
function withoutNothing(value) {
  if (Array.isArray(value)) return value.map(withoutNothing);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withoutNothing(member)]);
  return Object.fromEntries(members.filter(([, member]) => !saysNothing(member)));
}

function saysNothing(value) {
  return value === null || value === undefined || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}

/** Merges deltas into what `merge` holds; returns the error that the last one is refused with. */
function refusalOf(merge, deltas) {
  for (const [at, one] of deltas.entries()) {
    try {
      merge(one);
    } catch (error) {
      assert.equal(at, deltas.length - 1, `delta ${at} was refused: ${error}`);
      return error;
    }
  }
  return undefined;
}

function check({ expected, error }, found, refusal) {
  if (error) {
    assert.ok(refusal instanceof TurnwireError, String(refusal));
    assert.equal(refusal.code, "merge_mismatch");
  } else {
    assert.equal(refusal, undefined);
  }
  assert.deepEqual(withoutNothing(found), withoutNothing(expected));
}

test("there are cases", () => assert.ok(cases.length > 40));

for (const one of cases.filter(({ base }) => base !== null)) {
  test(`mergeEventDelta, ${one.section}: ${one.name}`, () => {
    const base = structuredClone(one.base);
    const refusal = refusalOf((next) => assert.equal(mergeEventDelta(base, structuredClone(next)), base), one.deltas);
    check(one, base, refusal);
  });
}

for (const one of cases.filter(({ base }) => base === null)) {
  test(`ModelMessageBuilder, ${one.section}: ${one.name}`, () => {
    const builder = new ModelMessageBuilder();
    let built;
    const refusal = refusalOf((next) => (built = builder.add(structuredClone(next))), one.deltas);
    const { type: _, ...expected } = one.expected;
    const { type: __, ...found } = built;
    check({ ...one, expected }, found, refusal);
  });
}

for (const one of cases.filter(({ base, error }) => base !== null && !error)) {
  test(`a snapshot agrees with mergeEventDelta, ${one.section}: ${one.name}`, async (t) => {
    const { turn } = await serveTurn(t, events(created(), one.base, ...one.deltas, done()));
    assert.equal((await collect(turn.stream())).error, undefined);
    const merged = one.deltas.reduce((base, next) => mergeEventDelta(base, structuredClone(next)), structuredClone(one.base));
    const shown = turn.snapshot().threads.flatMap((thread) => thread.messages).find(({ id }) => id === merged.id);
    const parts = Array.isArray(merged.content) ? merged.content : [{ text: merged.content }];
    assert.equal(shown.content, parts.map((part) => part.text ?? "").join(""));
    assert.equal(shown.reasoning_content, merged.reasoning_content ?? "");
    assert.equal(shown.finish_reason, merged.finish_reason || null);
    assert.deepEqual(shown.usage, merged.usage ?? null);
    assert.deepEqual(
      shown.tool_calls.map((known) => [known.id, known.arguments]),
      (merged.tool_calls ?? []).map((known) => [known?.id ?? "", known?.function?.arguments ?? ""]),
    );
  });
}

test("a delta that is merged is not changed, and the base keeps nothing of it", () => {
  const base = message();
  const piece = delta({
    tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "{" }, provider_specific_fields: { a: 1 } }],
  });
  const before = structuredClone(piece);
  mergeEventDelta(base, piece);
  mergeEventDelta(base, args("}"));
  assert.deepEqual(piece, before);
});

test("the events of a stream merge into what the snapshot shows", async (t) => {
  const pieces = [text("Hel"), text("lo 🎉"), call("c1", "find"), args('{"q"'), args(":1}"), finished("tool_calls")];
  const { turn } = await serveTurn(t, events(created(), message(), ...pieces, done()));
  const byId = new Map();
  for await (const event of turn.stream()) {
    if (isEventDelta(event)) mergeEventDelta(byId.get(event.id), event);
    else if (event.type === "model.message") byId.set(event.id, event);
  }
  const [shown] = turn.snapshot().threads[0].messages;
  const merged = byId.get("m1");
  assert.deepEqual(
    [merged.content, merged.finish_reason, merged.tool_calls[0].function.arguments, merged.tool_calls[0].id],
    [shown.content, shown.finish_reason, shown.tool_calls[0].arguments, shown.tool_calls[0].id],
  );
});

test("isEventDelta recognizes deltas, also of future types", () => {
  for (const type of ["model.message.delta", "tool.response.delta"]) assert.equal(isEventDelta({ type }), true);
  for (const type of ["model.message", "turn.done", "unknown", "delta", "model.message.deltas", "state.delta", "activity.delta"]) assert.equal(isEventDelta({ type }), false);
});

test("the builder returns the message so far, complete, and starts over", () => {
  const builder = new ModelMessageBuilder();
  const first = builder.add(delta({ content: "Hel", created_at: "2026-11-20T09:00:00Z" }));
  assert.deepEqual(first, { id: "m1", thread_id: "main", created_at: "2026-11-20T09:00:00Z", content: "Hel" });
  assert.equal(builder.add(text("lo")), first);
  assert.equal(first.content, "Hello");
  builder.add(finished());
  assert.deepEqual(builder.buildAndReset(), { ...first, finish_reason: "stop" });
  const second = builder.add(text("next", "m2"));
  assert.deepEqual(second, { id: "m2", thread_id: "main", content: "next" });
  assert.equal(first.content, "Hello");
});

test("the builder does not return an incomplete message, and keeps it", async () => {
  const builder = new ModelMessageBuilder();
  assert.equal((await failure(() => builder.buildAndReset())).code, "message_incomplete");
  builder.add(text("Hel"));
  const error = await failure(() => builder.buildAndReset());
  assert.ok(error instanceof TurnwireError);
  assert.equal(error.code, "message_incomplete");
  builder.add(text("lo"));
  builder.add(finished());
  assert.equal(builder.buildAndReset().content, "Hello");
});

test("the builder refuses a delta of another message, and keeps its own", async () => {
  const builder = new ModelMessageBuilder();
  builder.add(text("Hello"));
  assert.equal((await failure(() => builder.add(text("x", "m2")))).code, "merge_mismatch");
  builder.add(finished());
  assert.equal(builder.buildAndReset().content, "Hello");
});

for (const entry of [null, undefined, 5, "call", {}, { index: null }]) {
  test(`a tool call of ${JSON.stringify(entry)} is refused, and nothing of its delta is merged`, async () => {
    const base = message("m1", { content: "a" });
    const error = await failure(() => mergeEventDelta(base, delta({ content: "b", tool_calls: [entry] })));
    assert.ok(error instanceof TurnwireError, String(error));
    assert.equal(error.code, "merge_mismatch");
    assert.deepEqual(base, message("m1", { content: "a" }));
  });
}

test("calls of a base may lack what deltas bring", () => {
  for (const known of [{ id: "c1" }, { id: "c1", function: null }, { id: "c1", function: {} }, { id: "c1", function: { name: "f" } }, null]) {
    const base = message("m1", { tool_calls: [known] });
    mergeEventDelta(base, delta({ tool_calls: [{ index: 0, id: "c1", function: { name: "f", arguments: "{" } }] }));
    mergeEventDelta(base, args("}"));
    assert.equal(base.tool_calls[0].id, "c1");
    assert.deepEqual(base.tool_calls[0].function, { name: "f", arguments: "{}" });
  }
});

test("a base without calls, or with none, takes them", () => {
  for (const tool_calls of [undefined, null, []]) {
    const base = mergeEventDelta(message("m1", { tool_calls, content: null }), delta({ content: "a", tool_calls: [{ index: 0, id: "c1" }] }));
    assert.equal(base.content, "a");
    assert.equal(base.tool_calls[0].id, "c1");
  }
});

test("empty fields merge nothing", () => {
  const base = message("m1", { content: "a" });
  mergeEventDelta(base, delta({ content: null, tool_calls: null, usage: null, finish_reason: null, refusal: null, reasoning_content: null }));
  assert.deepEqual(base, message("m1", { content: "a" }));
});
