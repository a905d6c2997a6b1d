// The three ways in which a turn's answer comes: the same events and snapshots, finer or coarser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { call, declaring, frame, replay, saying, sent, serveSession, start, stop, told, turn, TURNS } from "../support/aap.mjs";
import { collect, failure, textOf } from "../support/collect.mjs";
import { json, LiveStream } from "../support/server.mjs";

/** The result of a turn, without ids. */
const gist = (played) => {
  const { threads, state, status } = played.snapshot();
  const messages = threads[0].messages.map(({ content, reasoning_content, tool_calls = [], finish_reason }) => ({
    content, reasoning_content, finish_reason,
    calls: tool_calls.map(({ id, name, arguments: text, response }) => ({ id, name, input: JSON.parse(text), response: response?.content })),
  }));
  return { messages, status, waiting: state.required_actions.map(({ type, tool_calls: [one] = [], tool_call_id = one.id, name = one.name }) => [type, tool_call_id, name]) };
};

for (const [name, part] of [["plain", "10-plain-{}"], ["image", "70-image-{}"], ["trusted server tool", "30-trusted-server-tool-{}"], ["client tool", "20-client-tool-{}-a-call"], ["untrusted", "40-untrusted-grant-{}-a-call"], ["mixed", "50-mixed-{}-a-call"]]) {
  test(`real traffic has the same outcome in all modes: ${name}`, async (t) => {
    const gists = [];
    for (const mode of ["delta", "message", "none"]) {
      const file = `${part.replace("{}", mode)}.${mode === "none" ? "json" : "sse"}`;
      const { session, server } = await serveSession(t, { [TURNS]: replay(file) }, { session: { stream: mode } });
      const played = session.createTurn({ input: "Hello" });
      const { error, events } = await collect(played.stream());
      assert.equal(error, undefined);
      assert.equal(sent(server)[0].stream, mode);
      assert.deepEqual(events.map(({ sequence_number }) => sequence_number), events.map((_, at) => at + 1));
      assert.equal(events[0].type, "turn.created");
      assert.equal(events.at(-1).type, "turn.done");
      gists.push(gist(played));
    }
    assert.deepEqual(gists[1], gists[0]);
    assert.deepEqual(gists[2], gists[0]);
    assert.ok(gists[0].messages.length > 0);
  });
}

test("the finest mode that the agent declares is used", async (t) => {
  for (const [declared, expected] of [[{ delta: {}, none: {} }, "delta"], [{ message: {}, none: {} }, "message"], [undefined, "none"]]) {
    const answer = expected === "none" ? json({ stopReason: "end_turn", messages: [{ role: "assistant", content: "Hi" }] }) : turn(start, [expected === "delta" ? "text_delta" : "text", expected === "delta" ? { delta: "Hi" } : { text: "Hi" }], stop());
    const { session, server } = await serveSession(t, { [TURNS]: answer }, { agent: declaring({ ...(declared && { stream: declared }) }) });
    const played = session.createTurn({ input: "Hello" });
    await played.waitForCompletion();
    assert.equal(textOf(played), "Hi");
    assert.equal(sent(server)[0].stream, expected);
    assert.match(server.requests.at(-1).headers.accept, expected === "none" ? /json/ : /event-stream/);
  }
});

test("a mode that the agent does not declare is refused", async (t) => {
  const error = await failure(serveSession(t, {}, { agent: declaring({ stream: { message: {} } }), session: { stream: "delta" } }));
  assert.equal(error.code, "invalid_option");
  assert.match(error.message, /message/);
});

test("a document in place of the requested stream is read", async (t) => {
  const { session } = await serveSession(t, { [TURNS]: json({ stopReason: "end_turn", messages: [{ role: "assistant", content: [{ type: "thinking", thinking: "Hm" }, { type: "text", text: "Whole" }] }] }) });
  const played = session.createTurn({ input: "Hello" });
  const { error } = await collect(played.stream());
  assert.equal(error, undefined);
  assert.equal(textOf(played), "Whole");
  assert.equal(played.snapshot().threads[0].messages[0].reasoning_content, "Hm");
});

test("a whole answer may take longer than a stream's head", async (t) => {
  const { session } = await serveSession(
    t,
    { [TURNS]: ({ response }) => setTimeout(() => json({ stopReason: "end_turn", messages: [{ role: "assistant", content: "Late" }] })({ response }), 400) },
    { session: { stream: "none" }, connectTimeout: 100, idleTimeout: 5000 },
  );
  const played = session.createTurn({ input: "Hello" });
  await played.waitForCompletion();
  assert.equal(textOf(played), "Late");
});

test("thinking and text keep their places, as deltas", async (t) => {
  const { session } = await serveSession(t, { [TURNS]: turn(start, ["thinking_delta", { delta: "I " }], ["thinking_delta", { delta: "think" }], "A", "B", call("c1", "lookup", { q: 1 }), told("c1", "found"), "C", stop()) });
  const played = session.createTurn({ input: "Hello" });
  await collect(played.stream());
  const [first, second] = played.snapshot().threads[0].messages;
  assert.equal(first.reasoning_content, "I think");
  assert.equal(first.content, "AB");
  assert.equal(first.tool_calls[0].response.content, "found");
  assert.equal(second.content, "C");
});

for (const [reason, finish] of [["end_turn", "stop"], ["max_tokens", "length"], ["refusal", "content_filter"]]) {
  test(`a turn that stops for ${reason} is done, and says so`, async (t) => {
    const { session } = await serveSession(t, { [TURNS]: turn(start, "Some", stop(reason)) });
    const played = session.createTurn({ input: "Hello" });
    const state = await played.waitForCompletion();
    assert.equal(state.status, "done");
    assert.equal(state.termination.type, reason);
    assert.equal(played.snapshot().threads[0].messages[0].finish_reason, finish);
  });
}

for (const reason of ["error", "solar_flare"]) {
  test(`a turn that stops for ${reason} is an error, its text is kept, and what follows is ignored`, async (t) => {
    const { session } = await serveSession(t, { [TURNS]: turn(start, "Some", stop(reason), stop("error"), "more") });
    const played = session.createTurn({ input: "Hello" });
    const { events } = await collect(played.stream());
    assert.equal(played.snapshot().state.status, "error");
    assert.equal(textOf(played), "Some");
    assert.equal(events.filter(({ type }) => type === "turn.done").length, 1);
  });
}

test("frames are available unchanged on request", async (t) => {
  const { session } = await serveSession(t, { [TURNS]: saying("a", "b") });
  const played = session.createTurn({ input: "Hello" });
  const natives = [];
  played.on("native", (native) => natives.push(native));
  await played.waitForCompletion();
  assert.deepEqual(natives, [
    { event: "turn_start", data: {} },
    { event: "text_delta", data: { delta: "a" } },
    { event: "text_delta", data: { delta: "b" } },
    { event: "turn_stop", data: { stopReason: "end_turn" } },
  ]);
});

test("unknown or malformed events are reported, and do not end the turn", async (t) => {
  const { session } = await serveSession(t, { [TURNS]: turn(start, ["future", { x: 1 }], ["text_delta", { delta: 5 }], "ok", stop()) });
  const played = session.createTurn({ input: "Hello" });
  const { events, error } = await collect(played.stream());
  assert.equal(error, undefined);
  assert.equal(events.filter(({ type }) => type === "unknown").length, 2);
  assert.equal(textOf(played), "ok");
});

test("pieces are shown as they come", async (t) => {
  const live = new LiveStream();
  const { session } = await serveSession(t, { [TURNS]: live.reply });
  const stream = session.createTurn({ input: "Hello" }).stream();
  await live.write(frame("turn_start") + frame("text_delta", { delta: "a" }));
  const seen = [];
  for await (const event of stream) {
    seen.push(event.type);
    if (event.type === "model.message.delta" && event.content === "a") await live.write(frame("text_delta", { delta: "b" }) + frame("turn_stop", { stopReason: "end_turn" }));
    if (event.type === "turn.done") await live.end();
  }
  assert.equal(seen.at(-1), "turn.done");
});
