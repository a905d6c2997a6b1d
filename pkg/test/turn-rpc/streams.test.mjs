// The messages of a turn's stream: to which turn each belongs, their order, and invalid messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ProtocolError } from "../../dist/index.js";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { answer, command, kept, say, saying, serveRpc, serveSession, SILENCE, thread, turn, user } from "../support/turn-rpc.mjs";

const types = (events) => events.map(({ type }) => type);

test("a turn is started under an id of the client's, once the connection is subscribed to its thread", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": saying("Hel", "lo") });
  const played = session.createTurn({ input: "Hello" });
  const { events, error } = await collect(played.stream());
  assert.equal(error, undefined);
  assert.deepEqual(server.asked, ["thread/get", "thread/start", "turn/start"]);
  const { params } = await server.until("turn/start");
  assert.equal(params.turn_id, played.id);
  assert.deepEqual(params.input, [{ type: "text", text: "Hello" }]);
  assert.deepEqual(types(events), ["turn.created", "model.message", "model.message.delta", "model.message.delta", "model.message.delta", "turn.done"]);
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), [1, 2, 3, 4, 5, 6]);
  assert.equal(textOf(played), "Hello");
  assert.equal(played.status, "done");
  await collect(session.createTurn({ input: "More" }).stream());
  assert.equal(server.count("thread/start"), 1, "once in a connection");
});

test("a thread that could not be subscribed to is subscribed to again with the next turn", async (t) => {
  const { server, session } = await serveSession(t, {
    "thread/start": [({ peer, id }) => void peer.fail(id, { code: -32600, message: "not now" }) ?? SILENCE, ({ params }) => ({ thread: thread(params.thread_id) })],
    "turn/start": saying("Hello"),
  });
  await collect(session.createTurn({ input: "Hello" }).stream());
  await collect(session.createTurn({ input: "Hello" }).stream());
  assert.equal(server.count("thread/start"), 2);
});

test("what comes before the response belongs to the turn", async (t) => {
  const { session } = await serveSession(t, {
    "turn/start": ({ params, peer, id }) => {
      const { begin, start, complete, message, end } = say(params);
      peer.tell(start({ type: "reasoning", id: "r1", summary: [], content: [] }));
      peer.tell(begin(), complete({ type: "reasoning", id: "r1", summary: [], content: ["Hm"] }));
      peer.reply(id, { turn: turn(params.turn_id) });
      peer.tell(...message("m1", "Hello"), end());
      return SILENCE;
    },
  });
  const played = session.createTurn({ input: "Hello" });
  const { events, error } = await collect(played.stream());
  assert.equal(error, undefined);
  assert.equal(events[0].type, "turn.created");
  assert.equal(types(events).filter((type) => type === "turn.created").length, 1);
  assert.equal(textOf(played), "Hello");
  assert.equal(played.snapshot().threads[0].messages.map(({ reasoning_content }) => reasoning_content).join(""), "Hm");
});

test("a whole turn may come before the response", async (t) => {
  const { session } = await serveSession(t, {
    "turn/start": ({ params, peer }) => {
      peer.tell(...say(params).all("Quick"));
      return { turn: turn(params.turn_id) };
    },
  });
  const played = session.createTurn({ input: "Hello" });
  const { error } = await collect(played.stream());
  assert.equal(error, undefined);
  assert.equal(textOf(played), "Quick");
});

test("messages of other threads and turns are not this turn's", async (t) => {
  const { session } = await serveSession(t, {
    "turn/start": ({ params, peer, id }) => {
      peer.reply(id, { turn: turn(params.turn_id) });
      const { begin, start, delta, complete, end } = say(params);
      const others = [{ ...params, thread_id: "s2" }, { ...params, turn_id: "another" }, { thread_id: "s2", turn_id: "another" }];
      peer.tell(begin(), start(answer("m1", "")), delta("m1", "Mi"));
      for (const other of others) peer.tell(...say(other).all("Foreign"));
      // Words that look like the thread's name do not assign it to any turn either.
      peer.tell(say({ thread_id: "s2", turn_id: "another" }).delta("m1", "s1"));
      peer.tell(delta("m1", "ne"), complete(answer("m1", "Mine")), end());
      return SILENCE;
    },
  });
  const played = session.createTurn({ input: "Hello" });
  const { events } = await collect(played.stream());
  assert.equal(textOf(played), "Mine");
  assert.equal(JSON.stringify(events).includes("Foreign"), false);
  assert.equal(types(events).includes("unknown"), false);
});

test("binary messages are skipped, and what is not JSON is an unknown event at most", async (t) => {
  const { server, session } = await serveSession(t, {
    "turn/start": ({ params, peer, id }) => {
      peer.reply(id, { turn: turn(params.turn_id) });
      const { begin, start, delta, complete, end } = say(params);
      peer.tell(begin(), start(answer("m1", "")));
      const broken = [Buffer.from(JSON.stringify({ method: "turn/completed", params: { thread_id: "s1" } })), "", "7", "null", "[]", '{"jsonrpc":"2.0"', '{"thread_id":"s1","half":', '["s1"]', '{"method":7,"params":{"thread_id":"s1"}}', '{"method":"x/y","params":"s1"}'];
      for (const one of broken) peer.write(one);
      peer.tell(delta("m1", "Whole"), complete(answer("m1", "Whole")), end());
      return SILENCE;
    },
  });
  const played = session.createTurn({ input: "Hello" });
  const { events, error } = await collect(played.stream());
  assert.equal(error, undefined);
  assert.equal(textOf(played), "Whole");
  assert.deepEqual([...new Set(types(events))], ["turn.created", "model.message", "unknown", "model.message.delta", "turn.done"]);
  assert.equal(server.peers.length, 1);
});

test("two turns in two sessions are read on one connection, piece by piece", async (t) => {
  const { server, client } = await serveRpc(t, { "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }) });
  const sessions = [await client.agents.createSession("Chat"), await client.agents.createSession("Agent")];
  const turns = sessions.map((session) => session.createTurn({ input: "Hello" }));
  const read = turns.map((one) => collect(one.stream()));
  await server.until("turn/start", 2);
  const starts = server.requests.filter(({ method }) => method === "turn/start");
  const { peer } = starts[0];
  const spoken = starts.map(({ params }, at) => say(params).all(...[..."hello"].map((letter) => letter + at)));
  for (let at = 0; at < spoken[0].length; at += 1) for (const list of spoken) peer.tell(list[at]);
  for (const { error } of await Promise.all(read)) assert.equal(error, undefined);
  const said = new Map(starts.map(({ params }, at) => [params.turn_id, [..."hello"].map((letter) => letter + at).join("")]));
  for (const one of turns) assert.equal(textOf(one), said.get(one.id));
  assert.equal(server.peers.length, 1);
  assert.equal(server.count("thread/start"), 2, "each was subscribed to when it was made");
});

test("a stream that is left: its late messages and responses do no harm", async (t) => {
  const unhandled = [];
  const note = (error) => unhandled.push(error);
  process.on("uncaughtException", note);
  process.on("unhandledRejection", note);
  t.after(() => process.off("uncaughtException", note).off("unhandledRejection", note));
  const held = [];
  const { server, session, client } = await serveSession(t, {
    "turn/get": ({ params }) => ({ thread_id: "s1", workspace_id: "ws_1", turn: turn(params.turn_id) }),
    "turn/items": (request) => void held.push(request) ?? SILENCE,
    "turn/timeline": (request) => void held.push(request) ?? SILENCE,
  });
  const known = await session.getTurn("t1");
  const leave = new AbortController();
  const reading = collect(known.stream({ signal: leave.signal }));
  await server.until("turn/timeline");
  leave.abort();
  await reading;
  for (const { id, peer } of held) peer.reply(id, { thread_id: "s1", turn_id: "t1", events: [], items: [] });
  held[0].peer.tell(...say({ thread_id: "s1", turn_id: "t1" }).all("Late"));
  await client.agents.getSession("s1");
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(unhandled, []);
});

test("a message beyond `maxFrameBytes` ends the turn's stream with a ProtocolError, and does not affect the others", async (t) => {
  const { server, client } = await serveRpc(t, {
    "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }),
  }, { maxFrameBytes: 2000 });
  const [one, other] = [await client.agents.createSession("Chat"), await client.agents.createSession("Chat")].map((session) => session.createTurn({ input: "Hello" }));
  const read = [one, other].map((each) => collect(each.stream()));
  const first = await server.until("turn/start");
  const second = await server.until("turn/start", 2);
  const of = new Map([first, second].map(({ params }) => [params.thread_id, params]));
  const { peer } = first;
  peer.tell(say(of.get(one.session.id)).begin(), say(of.get(one.session.id)).delta("m1", "x".repeat(3000)));
  peer.tell(...say(of.get(other.session.id)).all("Hello"));
  const [{ error }, { error: none }] = await Promise.all(read);
  assert.ok(error instanceof ProtocolError || error.cause instanceof ProtocolError, String(error));
  assert.match(error.message, /2000/);
  assert.equal(none, undefined);
  assert.equal(textOf(other), "Hello");
  assert.equal(server.peers.length, 1);
});

test("a call's output is in the snapshot by stream, and in events of their own", async (t) => {
  let written;
  const { session } = await serveSession(t, {
    "turn/start": ({ params, peer, id }) => {
      peer.reply(id, { turn: turn(params.turn_id) });
      const { begin, start, output, complete, end } = say(params);
      peer.tell(begin(), start(command("c1")), start(command("c2")), output("c1", "one\n"), output("c1", "oops\n", "stderr"));
      written = (...list) => peer.tell(...list.map((one) => output(...one)));
      written.end = () => peer.tell(complete(command("c1", { status: "completed", success: true })), complete(command("c2", { status: "completed", success: true })), end());
      return SILENCE;
    },
  });
  const played = session.createTurn({ input: "Hello" });
  const heard = [];
  played.on("tool.output", ({ tool_call_id, stream, delta }) => heard.push([tool_call_id, stream, delta]));
  const calls = () => played.snapshot().threads[0]?.messages.flatMap(({ tool_calls }) => tool_calls) ?? [];
  const reading = collect(played.stream());
  await eventually(() => calls()[0]?.output?.stderr);
  const before = calls();
  assert.deepEqual(before[0].output, { stdout: "one\n", stderr: "oops\n" });
  assert.equal("output" in before[1], false);
  assert.ok(Object.isFrozen(before[0].output));
  written(["c1", "two\n"]);
  await eventually(() => calls()[0].output.stdout !== "one\n");
  const after = calls();
  assert.equal(after[0].output.stdout, "one\ntwo\n");
  assert.deepEqual(before[0].output, { stdout: "one\n", stderr: "oops\n" }, "an old snapshot stays as it was");
  assert.equal(after[1], before[1], "what did not change is the same object");
  written(["c2", "x".repeat(100_000)], ["c2", "the end"]);
  await eventually(() => calls()[1].output?.stdout.endsWith("the end"));
  assert.equal(calls()[0], after[0]);
  const { length } = calls()[1].output.stdout;
  assert.ok(length >= 32 * 1024 && length < 100_000, `the end is kept: ${length}`);
  written.end();
  const { error } = await reading;
  assert.equal(error, undefined);
  assert.deepEqual(heard.slice(0, 3), [["c1", "stdout", "one\n"], ["c1", "stderr", "oops\n"], ["c1", "stdout", "two\n"]]);
});

test("notices of the turn are in the snapshot, and in events of their own", async (t) => {
  let peer, of;
  const { session } = await serveSession(t, {
    "turn/start": (request) => {
      ({ peer, params: of } = request);
      peer.reply(request.id, { turn: turn(of.turn_id) });
      peer.tell(say(of).begin(), say(of).news("item/retry_scheduled", { item_id: "m1", item_type: "agent_message", recovery_job_id: "j", attempt_number: 2, next_run_at_unix: 1 }));
      return SILENCE;
    },
  });
  const played = session.createTurn({ input: "Hello" });
  assert.deepEqual(played.snapshot().notices, []);
  const heard = [];
  played.on("notice", (event) => heard.push(event));
  const reading = collect(played.stream());
  await eventually(() => played.snapshot().notices.length === 1);
  const first = played.snapshot();
  const [notice] = first.notices;
  assert.equal(notice.code, "item/retry_scheduled");
  assert.equal(notice.item_id, "m1");
  assert.ok(Object.isFrozen(first.notices) && Object.isFrozen(notice) && Object.isFrozen(notice.details));
  peer.tell(...say(of).message("m1", "Hello"));
  await eventually(() => textOf(played) === "Hello");
  assert.equal(played.snapshot().notices, first.notices, "the same list while nothing is new");
  peer.tell(say(of).news("item/recovery_succeeded", { item_id: "m1", item_type: "agent_message", recovery_job_id: "j", attempt_number: 2 }));
  await eventually(() => played.snapshot().notices.length === 2);
  assert.equal(played.snapshot().notices[0], notice, "known news stay the same object");
  assert.equal(first.notices.length, 1);
  for (let at = 0; at < 300; at += 1) peer.tell(say(of).news("item/retry_scheduled", { item_id: "m1", item_type: "agent_message", recovery_job_id: "j", attempt_number: at, next_run_at_unix: at }));
  await eventually(() => played.snapshot().notices.length === 256);
  const { notices } = await eventually(() => (played.snapshot().notices.at(-1).details.attempt_number === 299 ? played.snapshot() : undefined));
  peer.tell(say(of).news("item/recovery_succeeded", { item_id: "m1", item_type: "agent_message", recovery_job_id: "k", attempt_number: 2 }));
  const next = await eventually(() => (played.snapshot().notices !== notices ? played.snapshot().notices : undefined));
  assert.equal(next[0], notices[1], "the first one is no longer kept, the others are the same");
  peer.tell(say(of).end());
  assert.equal((await reading).error, undefined);
  assert.equal(heard.length, 303);
  assert.equal(heard[0].sequence_number, 2);
});

test("the history has each turn's input, although the records do not", async (t) => {
  const of = { thread_id: "s1" };
  const events = (turn_id, question, said) => [
    kept(1, "turnStarted", { workspaceId: "ws_1", threadId: "s1", turn: turn(turn_id), input: [{ type: "text", text: question }] }),
    kept(2, "itemCompleted", { workspaceId: "ws_1", threadId: "s1", turnId: turn_id, item: user({ turn_id }, question) }),
    kept(3, "itemCompleted", { workspaceId: "ws_1", threadId: "s1", turnId: turn_id, item: answer(`m-${turn_id}`, said) }),
    kept(4, "turnCompleted", { workspaceId: "ws_1", threadId: "s1", turn: turn(turn_id, "Completed") }),
  ].map((event) => ({ ...event, turn_id }));
  const { session } = await serveSession(t, {
    "thread/get": () => ({ thread: thread("s1", [turn("t1", "Completed"), turn("t2", "Completed")]) }),
    "thread/history": () => ({ ...of, workspace_id: "ws_1", events: [...events("t1", "One?", "One."), ...events("t2", "Two?", "Two.")] }),
  });
  const turns = await session.history();
  assert.deepEqual(turns.map(({ id }) => id), ["t1", "t2"]);
  assert.deepEqual(turns.map(({ input }) => input), [[{ type: "user.message", content: "One?" }], [{ type: "user.message", content: "Two?" }]]);
  assert.deepEqual(turns.map(({ input, snapshot }) => snapshot().input === input), [true, true]);
  assert.deepEqual(turns.map(textOf), ["One.", "Two."]);
  assert.equal(turns[1].previousTurnId, "t1");
});

test("turns of others are not mistaken: a missing thread is an error of the call", async (t) => {
  const { client } = await serveRpc(t, { "thread/get": ({ peer, id }) => void peer.fail(id, { code: -32600, message: "thread `s9` was not found" }) ?? SILENCE });
  assert.equal((await failure(client.agents.getSession("s9"))).status, 404);
});
