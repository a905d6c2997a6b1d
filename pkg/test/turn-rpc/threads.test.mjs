// Threads that a server unloads: a caller that needs one subscribes again, and no turn is started twice for that.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../dist/index.js";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { answer, kept, refuse, say, saying, serveRpc, serveSession, SILENCE, thread, turn } from "../support/turn-rpc.mjs";

const UNLOADED = refuse(-32600, "failed to start turn: thread `s1` is not loaded");
const starts = (server) => server.requests.filter(({ method }) => method === "turn/start").map(({ params }) => params.turn_id);

/** A session whose first turn is over, so that its connection is subscribed to its thread. */
async function heard(t, handlers) {
  const world = await serveSession(t, handlers);
  const { error } = await collect(world.session.createTurn({ input: "First" }).stream());
  assert.equal(error, undefined);
  return { ...world, peer: world.server.peers[0] };
}

test("a thread that the server has closed is subscribed to before the next turn, with and without listeners", async (t) => {
  const { server, session, peer } = await heard(t, { "turn/start": saying("Hello") });
  peer.tell(["thread/closed", { workspaceId: "ws_1", threadId: "s2" }], ["thread/closed", { workspaceId: "ws_1", threadId: "s1" }]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const next = session.createTurn({ input: "Next" });
  assert.equal((await collect(next.stream())).error, undefined);
  assert.deepEqual(server.asked, ["thread/get", "thread/start", "turn/start", "thread/start", "turn/start"]);
});

test("similar messages close nothing", async (t) => {
  const { server, session, peer } = await heard(t, { "turn/start": saying("Hello") });
  peer.tell(["x/y", { threadId: "s1", note: "thread/closed" }]);
  peer.write('{"thread/closed":');
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal((await collect(session.createTurn({ input: "Next" }).stream())).error, undefined);
  assert.equal(server.count("thread/start"), 1);
});

test("a start that is refused on a subscribed thread is sent once more, after a subscription", async (t) => {
  const { server, session } = await heard(t, { "turn/start": [saying("Hello"), UNLOADED, saying("Again")] });
  const next = session.createTurn({ input: "Next" });
  const { events, error } = await collect(next.stream());
  assert.equal(error, undefined);
  assert.equal(textOf(next), "Again");
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), events.map((_, at) => at + 1));
  assert.equal(events.some(({ type }) => type === "unknown"), false);
  assert.deepEqual(server.asked.slice(3), ["turn/start", "thread/start", "turn/start"]);
  const [, refused, accepted] = starts(server);
  assert.equal(refused, accepted, "the same turn");
  assert.equal(next.id, accepted);
});

test("the same of a start without a stream", async (t) => {
  const { server, session } = await heard(t, { "turn/start": [saying("Hello"), UNLOADED, ({ params }) => ({ turn: turn(params.turn_id) })] });
  const next = session.createTurn({ input: "Next" });
  assert.equal((await next.state()).status, "running");
  assert.equal(server.count("thread/start"), 2);
  assert.equal(starts(server).length, 3);
});

test("a second refusal is final", async (t) => {
  const { server, session } = await heard(t, { "turn/start": [saying("Hello"), UNLOADED, refuse(-32600, "already has a running turn"), saying("Third")] });
  const next = session.createTurn({ input: "Next" });
  const { error } = await collect(next.stream());
  assert.ok(error instanceof ApiError, String(error));
  assert.match(error.message, /already has a running turn/);
  assert.equal(next.status, "unstarted");
  assert.equal(starts(server).length, 3, "once more, and no oftener");
});

test("where the subscription is refused, too, nothing is sent again; the next turn subscribes", async (t) => {
  const { server, session } = await heard(t, {
    "thread/start": [({ params }) => ({ thread: thread(params.thread_id) }), refuse(-32600, "no such workspace"), ({ params }) => ({ thread: thread(params.thread_id) })],
    "turn/start": [saying("Hello"), UNLOADED, saying("Again")],
  });
  const { error } = await collect(session.createTurn({ input: "Next" }).stream());
  assert.match(error.message, /is not loaded/);
  assert.equal(starts(server).length, 2);
  assert.equal((await collect(session.createTurn({ input: "Third" }).stream())).error, undefined);
  assert.deepEqual(server.asked.slice(3), ["turn/start", "thread/start", "thread/start", "turn/start"]);
});

test("a refused first start is not sent again, since it has just subscribed", async (t) => {
  const { server, session } = await serveSession(t, { "turn/start": [UNLOADED, saying("Hello")] });
  assert.match((await collect(session.createTurn({ input: "First" }).stream())).error.message, /is not loaded/);
  assert.equal(starts(server).length, 1);
});

for (const code of [-32602, -32043]) {
  test(`an error of another code (${code}) is not answered by a second start`, async (t) => {
    const { server, session } = await heard(t, { "turn/start": [saying("Hello"), refuse(code, "no"), saying("Again")] });
    assert.ok((await collect(session.createTurn({ input: "Next" }).stream())).error instanceof ApiError);
    assert.equal(starts(server).length, 2);
    assert.equal(server.count("thread/start"), 1);
  });
}

test("a start at which something went wrong in the server is looked for, and not sent again", async (t) => {
  const { server, session } = await heard(t, {
    "turn/start": [saying("Hello"), refuse(-32603, "out of luck")],
    "turn/get": ({ params }) => ({ ...params, workspace_id: "ws_1", turn: turn(params.turn_id, "Completed") }),
  });
  const next = session.createTurn({ input: "Next" });
  assert.equal((await collect(next.stream())).error, undefined);
  assert.equal(next.status, "done");
  assert.equal(starts(server).length, 2);
});

test("a cancellation on a connection that is no longer subscribed to the thread: the same", async (t) => {
  const { server, session } = await heard(t, {
    "turn/start": [saying("Hello"), ({ params }) => ({ turn: turn(params.turn_id) })],
    "turn/cancel": [
      refuse(-32600, "connection `1` is not subscribed to thread `s1`"),
      ({ params, peer }) => {
        peer.tell(say(params).end("Interrupted"));
        return { ...params, workspace_id: "ws_1", turn: turn(params.turn_id, "Interrupted") };
      },
    ],
  });
  const next = session.createTurn({ input: "Next" });
  const reading = collect(next.stream());
  await eventually(() => next.id);
  await next.cancel();
  await reading;
  assert.equal(next.status, "cancelled");
  assert.equal(server.count("turn/cancel"), 2);
});

test("reads that find nothing do not subscribe to anything", async (t) => {
  const { server, session } = await heard(t, { "turn/start": saying("Hello"), "turn/get": refuse(-32600, "turn was not found") });
  assert.equal((await failure(session.getTurn("t9"))).status, 404);
  assert.equal(server.count("thread/start"), 1);
});

test("a close notice from before a subscription does not undo it", async (t) => {
  const { server, session, peer } = await heard(t, {
    "thread/start": ({ params, count, peer, id }) => {
      if (count === 0) return { thread: thread(params.thread_id) };
      peer.tell(["thread/closed", { workspaceId: "ws_1", threadId: "s1" }]);
      peer.reply(id, { thread: thread(params.thread_id) });
      return SILENCE;
    },
    "turn/start": saying("Hello"),
  });
  peer.tell(["thread/closed", { workspaceId: "ws_1", threadId: "s1" }]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const input of ["Next", "Third"]) assert.equal((await collect(session.createTurn({ input }).stream())).error, undefined);
  assert.equal(server.count("thread/start"), 2);
});

test("a thread that the server closes while its turn is read is subscribed to at once, on the same connection", async (t) => {
  const { server, session } = await serveSession(t, {
    "turn/start": ({ params, peer, id }) => {
      peer.reply(id, { turn: turn(params.turn_id) });
      const { begin, start, delta } = say(params);
      peer.tell(begin(), start(answer("m1", "")), delta("m1", "Hel"), ["thread/closed", { workspaceId: "ws_1", threadId: "s1" }]);
      return SILENCE;
    },
    "turn/items": ({ params }) => ({ ...params, workspace_id: "ws_1", events: [kept(1, "itemStarted", { turnId: params.turn_id, item: answer("m1", "") })], last_sequence: 1 }),
    "turn/timeline": ({ params, peer, id }) => {
      peer.reply(id, { ...params, workspaceId: "ws_1", items: [], lastSequence: 1 });
      const { complete, end } = say({ thread_id: params.threadId, turn_id: params.turnId });
      peer.tell(complete(answer("m1", "Hello")), end());
      return SILENCE;
    },
  });
  const next = session.createTurn({ input: "Hi" });
  const { events, error } = await collect(next.stream());
  assert.equal(error, undefined);
  assert.equal(textOf(next), "Hello");
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), events.map((_, at) => at + 1));
  assert.equal(server.peers.length, 1);
  assert.deepEqual(server.asked.slice(1), ["thread/start", "turn/start", "thread/start", "turn/get", "turn/items", "turn/timeline"]);
});

test("a close notice after the end of a turn does not read the turn again", async (t) => {
  const { server, session } = await serveSession(t, {
    "turn/start": ({ params, peer, id }) => {
      peer.reply(id, { turn: turn(params.turn_id) });
      peer.tell(...say(params).all("Hello"), ["thread/closed", { workspaceId: "ws_1", threadId: "s1" }]);
      return SILENCE;
    },
  });
  const next = session.createTurn({ input: "Hi" });
  assert.equal((await collect(next.stream())).error, undefined);
  assert.equal(textOf(next), "Hello");
  assert.equal(server.count("turn/get"), 0);
});

/** A server that creates every requested thread, and loses all of them on demand. */
function forgetful() {
  const threads = new Map();
  let time = 1700000000;
  const known = (id, { mode = "Chat", name } = {}) => {
    if (!threads.has(id)) threads.set(id, { ...thread(id), mode, name, created_at: (time += 1) });
    return threads.get(id);
  };
  const handlers = {
    "thread/start": ({ params }) => ({ thread: known(params.thread_id, params) }),
    "thread/get": (request) => (threads.has(request.params.thread_id) ? { thread: known(request.params.thread_id) } : refuse(-32600, "thread was not found")(request)),
    "turn/start": saying("Hello"),
  };
  return { handlers, threads };
}

test("a conversation that the server has lost is an error when it continues", async (t) => {
  const { handlers, threads } = forgetful();
  const { server, client } = await serveRpc(t, handlers);
  const session = await client.agents.createSession("Agent");
  assert.equal((await collect(session.createTurn({ input: "First" }).stream())).error, undefined);
  const later = await client.agents.getSession(session.id);
  threads.clear();
  await server.lose();
  for (const of of [session, later]) {
    const next = of.createTurn({ input: "Next" });
    const { error } = await collect(next.stream());
    assert.ok(error instanceof ApiError, String(error));
    assert.deepEqual([error.code, error.status, next.status], ["rpc", 404, "unstarted"]);
    assert.match(error.message, /no longer has/);
  }
  assert.equal(starts(server).length, 1);
});

test("the same where the first turn was running", async (t) => {
  const { handlers, threads } = forgetful();
  const { server, client } = await serveRpc(t, {
    ...handlers,
    "turn/start": ({ params, peer, id }) => {
      peer.reply(id, { turn: turn(params.turn_id) });
      peer.tell(say(params).begin());
      return SILENCE;
    },
    "turn/get": refuse(-32600, "turn was not found"),
  });
  const session = await client.agents.createSession("Agent");
  const first = session.createTurn({ input: "First" });
  const reading = collect(first.stream());
  await eventually(() => first.status === "running");
  threads.clear();
  await server.lose();
  await reading;
  assert.equal(first.status, "error");
  assert.equal((await collect(session.createTurn({ input: "Next" }).stream())).error?.status, 404);
  assert.equal(starts(server).length, 1);
});

test("the same for a session that was only read", async (t) => {
  const { handlers, threads } = forgetful();
  const { server, client, dial } = await serveRpc(t, handlers);
  const { id } = await client.agents.createSession("Agent");
  const session = await (await dial()).agents.getSession(id);
  threads.clear();
  await server.lose();
  assert.equal((await collect(session.createTurn({ input: "Next" }).stream())).error?.status, 404);
  assert.equal(starts(server).length, 0);
  threads.clear();
  assert.equal((await failure(client.agents.getSession(id))).status, 404);
});

test("a server that does not always say when it made a thread has not lost it", async (t) => {
  let count = 0;
  const forms = [1700000000, undefined, null, "2023-11-14T22:13:20Z", 1700000000];
  const { server, client } = await serveRpc(t, {
    "thread/start": ({ params }) => ({ thread: { ...thread(params.thread_id), created_at: forms[count++ % forms.length] } }),
    "turn/start": saying("Hello"),
  });
  const session = await client.agents.createSession("Agent");
  for (let at = 0; at < forms.length; at += 1) {
    assert.equal((await collect(session.createTurn({ input: "Hi" }).stream())).error, undefined, `${at}`);
    await server.lose();
  }
  assert.ok(starts(server).length >= forms.length);
});

test("a session without messages is created again as it was", async (t) => {
  const { handlers, threads } = forgetful();
  const { server, client } = await serveRpc(t, handlers);
  const session = await client.agents.createSession("Agent", { title: "Mine", sessionOptions: { model: "big" } });
  threads.clear();
  await server.lose();
  for (const input of ["First", "Next"]) assert.equal((await collect(session.createTurn({ input }).stream())).error, undefined);
  assert.deepEqual([threads.get(session.id).mode, threads.get(session.id).name], ["Agent", "Mine"]);
  await server.lose();
  assert.equal((await collect(session.createTurn({ input: "Third" }).stream())).error, undefined, "it is that one from then on");
  const made = server.requests.filter(({ method }) => method === "thread/start").map(({ params }) => params);
  const creation = { thread_id: session.id, mode: "Agent", name: "Mine", model: "big", workspace_id: "ws_1" };
  assert.deepEqual(made, [creation, creation, { thread_id: session.id, workspace_id: "ws_1" }]);
});
