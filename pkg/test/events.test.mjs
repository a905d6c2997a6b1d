// Bytes in, event objects out: each kind exactly as documented, however the network cuts the bytes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect } from "./support/collect.mjs";
import { events, page, serveTurn, stream, TURN_EVENTS } from "./support/server.mjs";
import {
  answer, args, call, created, delta, done, finished, frame, frames, message, required, SUBJECT, text, TIME, toolResponse,
} from "./support/wire.mjs";

/** What the package delivers for these events. */
async function delivered(t, ...list) {
  // A pending action is reported with its call, which is listed.
  const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
  const listed = page([message("m1", { tool_calls: [call], finish_reason: "tool_calls" })]);
  const { turn } = await serveTurn(t, events(...list), { routes: { [TURN_EVENTS]: listed } });
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  return got;
}

/** What the package delivers for one event between the beginning and the end of a turn. */
async function deliveredOne(t, event) {
  const got = await delivered(t, created(), event, done());
  assert.equal(got.length, 3);
  assert.equal(got[1].sequence_number, 2);
  return got[1];
}

const DELTAS = {
  content: text("Hi"),
  "content with a time": delta({ content: "Hi", created_at: TIME }),
  "reasoning": delta({ reasoning_content: "Hm" }),
  "reasoning with a time": delta({ reasoning_content: "Hm", created_at: TIME }),
  "arguments": args('{"a":'),
  "arguments of a later call": args("1}", { index: 3 }),
  "arguments with a time": args("{}", { created_at: TIME }),
  "refusal": delta({ refusal: "No." }),
  "text and reasoning at once": delta({ content: "a", reasoning_content: "b" }),
  "two calls at once": delta({
    tool_calls: [{ index: 0, function: { arguments: "1" } }, { index: 1, function: { arguments: "2" } }],
  }),
  "empty text": text(""),
  "finish reason and usage": delta({
    finish_reason: "stop",
    usage: {
      input_tokens: 3,
      output_tokens: 4,
      input_tokens_breakdown: { harness: 1, skills: 0, instructions: 1, tool_definitions: 0, messages: 1 },
    },
  }),
  "unknown fields": delta({ content: "x", mood: { happy: true } }),
};

for (const [name, event] of Object.entries(DELTAS)) {
  test(`a delta arrives as it was sent: ${name}`, async (t) => {
    // Twice, since the second one is read with the template of the first.
    const got = await delivered(t, created(), event, event, done());
    assert.deepEqual(got.slice(1, 3), [
      { ...event, sequence_number: 2 },
      { ...event, sequence_number: 3 },
    ]);
  });
}

test("a call's first piece has both spellings of its server", async (t) => {
  const event = call("c1", "search");
  const [piece] = event.tool_calls;
  const tool_info = { ...piece.tool_info, mcp_server_id: "srv", mcp_server_name: "Server" };
  assert.deepEqual(await deliveredOne(t, event), {
    ...event,
    tool_calls: [{ ...piece, tool_info }],
    sequence_number: 2,
  });
});

test("turn.created and turn.done frame the stream", async (t) => {
  const got = await delivered(t, created(), done({ completed_at: TIME }));
  assert.deepEqual(got, [
    { ...created(), created_by_subject: SUBJECT, sequence_number: 1 },
    { ...done(), sequence_number: 2 },
  ]);
});

const COLD = {
  "a message's beginning": [message()],
  "a complete message": [message("m1", { content: "Hi", finish_reason: "stop", name: "bot" })],
  "a message in parts": [message("m1", { content: [{ type: "text", text: "a" }, { type: "refusal", refusal: "b" }] })],
  "a tool's result": [toolResponse("c1", "42")],
  "a sandbox": [{ type: "sandbox.created", id: "e", created_at: TIME, thread_id: null, sandbox_id: "sbx" }],
  "a thread's beginning": [
    {
      type: "thread.created",
      id: "e",
      thread_id: "th",
      created_at: TIME,
      title: "Logs",
      parent: { thread_id: "main", tool_call_id: "c1" },
      agent_info: { type: "dynamic", name: "reader", input: "Read.", model: "small" },
    },
  ],
  "a thread's end": [
    { type: "thread.done", id: "e", thread_id: "th", created_at: TIME, title: "Logs", state: { status: "error", error: "no" } },
    { status: "error", message: "no" },
  ],
  "approvals": [
    required(["c1"]),
    { tool_calls: [{ id: "c1", source_event_id: "m1", event_id: "m1" }] },
  ],
  "questions": [
    required(["c1"], { kind: "response" }),
    { tool_calls: [{ id: "c1", source_event_id: "m1", event_id: "m1" }] },
  ],
  "servers": [
    {
      type: "mcp.initialize",
      id: "e",
      thread_id: "main",
      created_at: TIME,
      mcp_servers: [{ id: "srv", name: "Server", session_id: "x", transport_type: "sse" }],
    },
    {
      mcp_servers: [{ id: "srv", name: "Server", mcp_server_name: "Server", session_id: "x", transport_type: "sse" }],
      content: [{ id: "srv", name: "Server", mcp_server_name: "Server", session_id: "x", transport_type: "sse" }],
    },
  ],
  "an authorization": [
    {
      type: "mcp.auth_required",
      id: "e",
      thread_id: null,
      created_at: TIME,
      mcp_servers: [{ id: "srv", name: "Server", auth_url: "https://auth.example/" }],
    },
    {
      mcp_servers: [
        { id: "srv", name: "Server", mcp_server_name: "Server", auth_url: "https://auth.example/", thread_ids: [] },
      ],
      servers: [
        { id: "srv", name: "Server", mcp_server_name: "Server", auth_url: "https://auth.example/", thread_ids: [] },
      ],
    },
  ],
};

for (const [name, [event, more]] of Object.entries(COLD)) {
  test(`a rare event arrives as documented: ${name}`, async (t) => {
    assert.deepEqual(await deliveredOne(t, event), { ...event, ...more, sequence_number: 2 });
  });
}

test("missing times stay missing", async (t) => {
  const got = await delivered(t, created(), text("a"), delta({ content: "b", created_at: TIME }), text("c"), done());
  assert.deepEqual(got.map((event) => "created_at" in event), [true, false, true, false, true]);
});

const TEXTS = {
  "plain": "Hello, world",
  "longer than what is built from character codes": "x".repeat(5000),
  "accents and scripts": "déjà vu, 你好, مرحبا, नमस्ते",
  "emoji and families": "🎉 👩‍👩‍👧‍👦 🏳️‍🌈 𝕏",
  "a byte order mark at the start": "\uFEFFmarked",
  "nothing but a byte order mark": "\uFEFF",
  "escapes": 'quote " backslash \\ slash / tab \t newline \n return \r bell \u0007 nul \u0000',
  "line separators": "a\u2028b\u2029c\u0085d",
  "lines of the stream's own format": "data: x\nid: 9\n\nevent: y",
  "what looks like markup": "</script><!-- & -->",
};

for (const [name, content] of Object.entries(TEXTS)) {
  test(`text survives in every field: ${name}`, async (t) => {
    const list = [
      text(content), text(content), delta({ reasoning_content: content }), args(content), delta({ refusal: content }),
      toolResponse("c1", content),
    ];
    const got = await delivered(t, created(), message(), ...list, done());
    assert.deepEqual(got.slice(2, -1).map(({ sequence_number: _, ...event }) => event), list);
  });
}

test("every way to escape a character is undone", async (t) => {
  const escaped = String.raw`A\/\b\f\n\r\t\"\\\u00e9\uD83D\uDE00\u0000\uFEFF`;
  const data = `{"type":"model.message.delta","id":"m1","thread_id":"main","content":"${escaped}"}`;
  const { turn } = await serveTurn(t, stream(frames([created()]), frame(data, 2), frame(data, 3), frames([done()], 4)));
  const { events: got } = await collect(turn.stream());
  const content = 'A/\b\f\n\r\t"\\\u00E9\u{1F600}\u0000\uFEFF';
  assert.deepEqual(got.slice(1, 3).map((event) => event.content), [content, content]);
});

test("half a surrogate pair becomes a replacement character", async (t) => {
  const data = String.raw`{"type":"model.message.delta","id":"m1","thread_id":"main","content":"a\uD83Db"}`;
  const { turn } = await serveTurn(t, stream(frames([created()]), frame(data, 2), frames([done()], 3)));
  const { events: got } = await collect(turn.stream());
  assert.equal(got[1].content, "a\uFFFDb");
});

test("bytes that are not UTF-8 become replacement characters", async (t) => {
  const [before, after] = frame(text("a@b"), 2).split("@");
  const bytes = Buffer.concat([Buffer.from(frames([created()]) + before), Buffer.from([0xff]), Buffer.from(after + frames([done()], 3))]);
  const { turn } = await serveTurn(t, stream(bytes));
  const { events: got } = await collect(turn.stream());
  assert.equal(got[1].content, "a\uFFFDb");
});

const WHOLE = [
  created(),
  message(),
  ...Object.values(TEXTS).map((content) => text(content)),
  ...Object.values(DELTAS),
  call("c1", "search"),
  args('{"q":"ü"}'),
  toolResponse("c1", "🎉"),
  { type: "brand.new", id: "n", payload: "é" },
  finished(),
  done(),
];

for (const size of [1, 7, 4096]) {
  test(`chunks of ${size} bytes have the same result as the whole`, async (t) => {
    const bytes = Buffer.from(frames(WHOLE));
    const whole = await serveTurn(t, stream(bytes));
    const expected = await collect(whole.turn.stream());
    const cut = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)));
        controller.close();
      },
    });
    const pieces = await serveTurn(t, events(), { options: { fetch: answering(cut) } });
    const got = await collect(pieces.turn.stream());
    assert.deepEqual(got, expected);
    assert.equal(got.events.length, WHOLE.length);
    assert.deepEqual(pieces.turn.snapshot(), whole.turn.snapshot());
  });
}

/** A fetch that answers the start of a turn with this stream, and passes everything else on. */
function answering(body) {
  return (url, init) =>
    url.endsWith("/turns")
      ? Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }))
      : fetch(url, init);
}

const FRAMINGS = {
  "id before data": (event, n) => `id: ${n}\ndata: ${event}\n\n`,
  "CRLF": (event, n) => `data: ${event}\r\nid: ${n}\r\n\r\n`,
  "CR": (event, n) => `data: ${event}\rid: ${n}\r\r`,
  "no space after the colon": (event, n) => `data:${event}\nid:${n}\n\n`,
  "comments, names and retry times": (event, n) => `: ping\nevent: x\nretry: 50\ndata: ${event}\nid: ${n}\n\n: pong\n\n`,
  "a byte order mark first": (event, n) => `${n === 1 ? "\uFEFF" : ""}data: ${event}\nid: ${n}\n\n`,
};

for (const [name, framed] of Object.entries(FRAMINGS)) {
  test(`framing makes no difference: ${name}`, async (t) => {
    const list = answer("Hel", "lo");
    const bytes = list.map((event, at) => framed(JSON.stringify(event), at + 1)).join("");
    const { turn } = await serveTurn(t, stream(bytes));
    const { events: got } = await collect(turn.stream());
    assert.deepEqual(got.map((event) => event.type), list.map((event) => event.type));
    assert.deepEqual(got.map((event) => event.sequence_number), [1, 2, 3, 4, 5, 6]);
  });
}

test("an event may be spread over several data lines", async (t) => {
  const lines = JSON.stringify(text("Hi"), null, 1).split("\n").map((line) => `data: ${line}\n`).join("");
  const { turn } = await serveTurn(t, stream(frames([created()]), `${lines}id: 2\n\n`, frames([done()], 3)));
  const { events: got } = await collect(turn.stream());
  assert.deepEqual(got[1], { ...text("Hi"), sequence_number: 2 });
});

test("an event without a number, or with a wild one, has the number 0", async (t) => {
  const odd = ["", "x", "-1", "1.5", "99999999999999999999"].map((id) => `data: ${JSON.stringify(text("a"))}\nid: ${id}\n\n`);
  const bytes = [frames([created()]), frame(text("a")), ...odd, frames([done()], 2)].join("");
  const { turn } = await serveTurn(t, stream(bytes));
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(got.map((event) => event.sequence_number), [1, 0, 0, 0, 0, 0, 0, 2]);
});

test("a large number arrives exactly", async (t) => {
  const { turn } = await serveTurn(t, stream(frame(created(), 1), frame(text("a"), Number.MAX_SAFE_INTEGER - 1), frame(done(), Number.MAX_SAFE_INTEGER)));
  const { events: got } = await collect(turn.stream());
  assert.deepEqual(got.map((event) => event.sequence_number), [1, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER]);
  assert.equal(turn.lastSequenceNumber, Number.MAX_SAFE_INTEGER);
});

const UNREADABLE = {
  "a new type": [{ type: "agent.thought", id: "x", depth: 2 }, { wire_type: "agent.thought" }],
  "a new kind of delta": [{ type: "tool.response.delta", id: "x", content: "y" }, { wire_type: "tool.response.delta" }],
  "no type": [{ id: "x" }, { wire_type: null, problem: /type/ }],
  "a number": [5, { wire_type: null, problem: /object/ }],
  "null": [null, { wire_type: null, problem: /object/ }],
  "a list": [[1], { wire_type: null, problem: /object/ }],
  "no id": [{ type: "model.message.delta", thread_id: "main", content: "x" }, { wire_type: "model.message.delta", problem: /id/ }],
  "a text of the wrong type": [delta({ content: 5 }), { wire_type: "model.message.delta", problem: /content/ }],
  "a call without an index": [delta({ tool_calls: [{ id: "c" }] }), { wire_type: "model.message.delta", problem: /index/ }],
  "a call with a wild index": [delta({ tool_calls: [{ index: 1e9 }] }), { wire_type: "model.message.delta", problem: /index/ }],
  "a call with a negative index": [delta({ tool_calls: [{ index: -1 }] }), { wire_type: "model.message.delta", problem: /index/ }],
  "a result that is no text": [toolResponse("c", { a: 1 }), { wire_type: "tool.response", problem: /content/ }],
};

for (const [name, [event, { wire_type, problem }]] of Object.entries(UNREADABLE)) {
  test(`what cannot be read arrives as unknown, and the stream goes on: ${name}`, async (t) => {
    const got = await delivered(t, created(), event, text("on"), done());
    const { problem: said, ...rest } = got[1];
    assert.deepEqual(rest, { type: "unknown", wire_type, raw: event, sequence_number: 2 });
    if (problem) assert.match(said, problem);
    else assert.equal(said, undefined);
    assert.deepEqual(got[2], { ...text("on"), sequence_number: 3 });
  });
}

test("what is not JSON arrives as unknown with its text", async (t) => {
  const bad = ["{", "[DONE]", '{"type":"model.message.delta"', "plain words"];
  const { turn } = await serveTurn(t, stream(frames([created()]), frames(bad, 2), frames([text("on"), done()], 6)));
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.deepEqual(got.slice(1, 5).map(({ type, raw }) => ({ type, raw })), bad.map((raw) => ({ type: "unknown", raw })));
  assert.ok(got.slice(1, 5).every((event) => event.problem.length > 0));
  assert.equal(turn.snapshot().threads[0].messages[0].content, "on");
});

test("an event list may be empty of text and still be a turn", async (t) => {
  const { turn } = await serveTurn(t, events(created(), done()));
  const { events: got, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(got.length, 2);
  assert.equal(turn.status, "done");
});
