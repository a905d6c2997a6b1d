// Messages to a running turn, and turns that follow each other where a thread has one at a time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, ConnectionError, InputError, StateError } from "../../dist/index.js";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { refuse, saying, serveRpc, serveSession, SILENCE, thread, turn as rpcTurn } from "../support/turn-rpc.mjs";

const of = (id) => ({ threadId: "t", turnId: id });
const record = (id, status = "inProgress") => ({ id, status, items: [], error: null });
const begin = (id) => ["turn/started", { threadId: "t", turn: record(id) }];
const end = (id) => ["turn/completed", { threadId: "t", turn: record(id, "completed") }];
const item = (id, item) => ["item/completed", { ...of(id), item }];
const user = (id, name, text) => item(id, { type: "userMessage", id: name, content: [{ type: "text", text, text_elements: [] }] });

/** A thread of Codex, with a turn that runs until the test ends it by `finish`. */
async function serve(t, handlers = {}) {
  const running = new Map();
  const world = await serveRpc(
    t,
    {
      initialize: () => ({ userAgent: "test" }),
      "thread/start": () => ({ thread: { id: "t" } }),
      "thread/resume": () => ({ thread: { id: "t", status: { type: "active", activeFlags: [] } } }),
      "thread/turns/list": () => ({ data: [...running.values()].slice(-1), nextCursor: null }),
      "thread/read": () => ({ thread: { id: "t", turns: [...running.values()] } }),
      "turn/start": ({ count, peer, params }) => {
        const id = `u${count + 1}`;
        running.set(id, record(id));
        setTimeout(() => peer.tell(begin(id), user(id, `${id}:said`, params.input[0].text)));
        return { turn: record(id) };
      },
      "turn/steer": ({ params }) => ({ turnId: params.expectedTurnId }),
      ...handlers,
    },
    { protocol: "codex" },
  );
  const session = await world.client.agents.createSession("codex");
  const finish = (id) => {
    running.set(id, record(id, "completed"));
    world.server.open.at(-1).tell(end(id));
  };
  const sent = (method) => world.server.requests.filter((request) => request.method === method).map(({ params }) => params);
  return { ...world, session, finish, sent };
}

/** The same with a turn that has begun. */
async function serveTurn(t, handlers) {
  const world = await serve(t, handlers);
  const turn = world.session.createTurn({ input: "Hello" });
  const ended = collect(turn.stream());
  await eventually(() => turn.id);
  return { ...world, turn, ended };
}

test("a message goes to the turn by its id, and comes back with its text and its place", async (t) => {
  const { server, turn, ended, finish, sent } = await serveTurn(t);
  assert.equal(await turn.steer("Go on", { deadline: 5000 }), undefined);
  const image = { type: "image", url: "https://server/a.png" };
  await turn.steer([{ type: "user.message", content: [{ type: "text", text: "Look" }, image] }]);
  assert.deepEqual(sent("turn/steer"), [
    { threadId: "t", expectedTurnId: "u1", input: [{ type: "text", text: "Go on" }] },
    { threadId: "t", expectedTurnId: "u1", input: [{ type: "text", text: "Look" }, image] },
  ]);
  server.open[0].tell(item("u1", { type: "agentMessage", id: "a", text: "Well" }), user("u1", "more", "Go on"), user("u1", "more", "Go on"));
  await eventually(() => turn.snapshot().notices.length > 0);
  finish("u1");
  await ended;
  const [notice, ...others] = turn.snapshot().notices;
  assert.deepEqual(others, []);
  assert.deepEqual([notice.level, notice.code, notice.message], ["info", "user_message", "Go on"]);
  assert.deepEqual(notice.details, { input: [{ type: "user.message", content: "Go on" }], after: "a" });
  assert.deepEqual(turn.input, [{ type: "user.message", content: "Hello" }]);
  assert.equal(sent("turn/start").length, 1);
});

test("while a turn is being started, the message waits for it", async (t) => {
  let start;
  const { session, finish, sent } = await serve(t, { "turn/start": ({ id, peer }) => void (start = () => peer.reply(id, { turn: record("u1") })) ?? SILENCE });
  const turn = session.createTurn({ input: "Hello" });
  const ended = collect(turn.stream());
  const said = turn.steer("Go on");
  const aborted = failure(turn.steer("Never mind", { signal: AbortSignal.timeout(10) }));
  await eventually(() => start);
  assert.equal((await aborted).code, "aborted");
  assert.deepEqual(sent("turn/steer"), []);
  start();
  await said;
  assert.deepEqual(sent("turn/steer").map(({ expectedTurnId, input }) => [expectedTurnId, input[0].text]), [["u1", "Go on"]]);
  finish("u1");
  await ended;
});

test("nothing is sent to a turn that has not begun, or has ended", async (t) => {
  const { session, finish, sent } = await serve(t);
  const turn = session.createTurn({ input: "Hello" });
  const early = await failure(turn.steer("Go on"));
  assert.ok(early instanceof StateError);
  assert.equal(early.code, "turn_not_started");
  const ended = collect(turn.stream());
  await eventually(() => turn.id);
  finish("u1");
  await ended;
  const late = await failure(turn.steer("Go on"));
  assert.ok(late instanceof StateError);
  assert.equal(late.code, "turn_not_running");
  assert.deepEqual([sent("turn/steer").length, sent("turn/start").length], [0, 1]);
});

test("an invalid message is not sent", async (t) => {
  const { turn, ended, finish, sent } = await serveTurn(t);
  const answer = { type: "user.tool_response", thread_id: "main", tool_call_id: "c", content: "42" };
  for (const input of ["", " ", [], null, undefined, answer, { type: "user.message", content: [] }, { type: "user.message", content: [{ type: "video", url: "x" }] }]) {
    const error = await failure(turn.steer(input));
    assert.ok(error instanceof InputError, `${JSON.stringify(input)}: ${error}`);
    assert.equal(error.code, "invalid_input");
  }
  assert.equal((await failure(turn.steer("Go on", { turnOptions: {} }))).code, "invalid_option");
  assert.deepEqual(sent("turn/steer"), []);
  finish("u1");
  await ended;
});

test("a refusal is the server's, and the turn goes on", async (t) => {
  const { turn, ended, finish, sent } = await serveTurn(t, { "turn/steer": refuse(-32600, "no active turn to steer") });
  const error = await failure(turn.steer("Go on"));
  assert.ok(error instanceof ApiError);
  assert.equal(error.code, "rpc");
  assert.match(error.message, /no active turn to steer/);
  finish("u1");
  assert.equal((await ended).error, undefined);
  assert.deepEqual([sent("turn/steer").length, sent("turn/start").length], [1, 1]);
});

test("a message that may have been lost with its connection is not sent twice", async (t) => {
  const { server, turn, ended, finish, sent } = await serveTurn(t, { "turn/steer": () => SILENCE });
  const said = failure(turn.steer("Go on"));
  await server.until("turn/steer");
  await server.lose();
  assert.ok((await said) instanceof ConnectionError);
  await server.until("thread/resume");
  finish("u1");
  assert.equal((await ended).error, undefined);
  assert.equal(turn.status, "done");
  assert.equal(sent("turn/steer").length, 1);
});

test("the gateway accepts no message while a turn runs", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": saying("Hello") });
  assert.equal(session.capabilities.steer, false);
  const turn = session.createTurn({ input: "Hello" });
  await collect(turn.stream());
  const error = await failure(turn.steer("Go on"));
  assert.ok(error instanceof StateError);
  assert.equal(error.code, "unsupported");
  assert.equal(server.count("turn/steer"), 0);
});

test("a second turn waits until the first is over, whichever way each is started", async (t) => {
  const { session, finish, sent } = await serve(t);
  const turns = ["one", "two", "three"].map((input) => session.createTurn({ input }));
  const first = collect(turns[0].stream());
  const second = turns[1].waitForCompletion();
  const third = collect(turns[2].stream());
  const refused = await failure(() => session.createTurn({ input: "four", whenBusy: "fail" }).stream());
  assert.ok(refused instanceof StateError);
  assert.equal(refused.code, "session_busy");
  for (const [at, ended] of [first, second, third].entries()) {
    await eventually(() => turns[at].id);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(sent("turn/start").length, at + 1);
    finish(`u${at + 1}`);
    await ended;
  }
  assert.deepEqual(turns.map(({ id, status }) => [id, status]), [["u1", "done"], ["u2", "done"], ["u3", "done"]]);
  assert.deepEqual(sent("turn/start").map(({ input }) => input[0].text), ["one", "two", "three"]);
});

test("a turn whose loop was left is read to its end for the one that waits for its place", async (t) => {
  const { session, finish, sent } = await serve(t);
  const first = session.createTurn({ input: "one" });
  for await (const event of first.stream()) if (event.type === "turn.created") break;
  const second = session.createTurn({ input: "two" });
  const ended = collect(second.stream());
  await eventually(() => sent("thread/turns/list").length > 0);
  assert.equal(sent("turn/start").length, 1);
  finish("u1");
  await eventually(() => second.id);
  finish("u2");
  await ended;
  assert.deepEqual([first.status, second.status], ["done", "done"]);
});

test("a turn that is only listed as running keeps a turn of Codex waiting, and none of the gateway's", async (t) => {
  const old = record("u0");
  const read = () => ({ thread: { id: "t", turns: [{ ...old }] } });
  const { session, finish, sent } = await serve(t, { "thread/read": read });
  await session.history();
  const turn = session.createTurn({ input: "Hello" });
  const ended = collect(turn.stream());
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(sent("turn/start"), []);
  old.status = "completed";
  finish("u0");
  await eventually(() => turn.id);
  finish("u1");
  await ended;
  assert.equal(turn.status, "done");

  const known = { ...thread("s1"), turns: [rpcTurn("u0")] };
  const gateway = await serveSession(t, {
    "thread/get": () => ({ thread: known }),
    "thread/history": () => ({ workspace_id: "ws_1", thread_id: "s1", events: [] }),
    "turn/start": saying("Hello"),
  });
  assert.deepEqual((await gateway.session.history()).map(({ status }) => status), ["running"]);
  const next = gateway.session.createTurn({ input: "Hello" });
  await collect(next.stream());
  assert.equal(textOf(next), "Hello");
  assert.equal(gateway.server.count("turn/get"), 0);
});

test("a turn that is given up while it waits is never sent, and delays no other turn", async (t) => {
  const { session, finish, sent } = await serve(t);
  const [first, second, third, fourth] = ["one", "two", "three", "four"].map((input) => session.createTurn({ input }));
  const reading = collect(first.stream());
  const cancelled = collect(second.stream());
  const aborted = collect(third.stream({ signal: AbortSignal.timeout(10) }));
  const last = collect(fourth.stream());
  await second.cancel();
  assert.equal((await cancelled).error.code, "aborted");
  assert.equal((await aborted).error.code, "aborted");
  assert.deepEqual([second.status, third.status], ["unstarted", "unstarted"]);
  await eventually(() => sent("turn/start").length > 0);
  assert.equal(sent("turn/start").length, 1, "the first still runs");
  finish("u1");
  await reading;
  await eventually(() => fourth.id);
  finish("u2");
  await last;
  assert.deepEqual(sent("turn/start").map(({ input }) => input[0].text), ["one", "four"]);
});

test("a turn that was refused delays no other turn", async (t) => {
  const { session } = await serveSession(t, { "turn/start": [refuse(-32600, "not now"), saying("Hello")] });
  const first = session.createTurn({ input: "one" });
  const second = session.createTurn({ input: "two" });
  const [{ error }] = await Promise.all([collect(first.stream()), collect(second.stream())]);
  assert.equal(error.code, "rpc");
  assert.equal(textOf(second), "Hello");
});
