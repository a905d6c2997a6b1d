// Sockets that the real relay holds, to the development gateway and to a Codex server whose messages a test writes: whatever breaks between
// a client and the relay, the turn goes on, and nothing is read or asked twice. Needs both programs (`TURNWIRE_RELAY`, `TURNWIRE_GATEWAY`).
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebSocket } from "ws";
import { connect } from "../../dist/index.js";
import { collect, eventually, textOf } from "../support/collect.mjs";
import { useGateway } from "../support/gateway.mjs";
import { before, Relay, Wire, WITH_RELAY } from "../support/relay.mjs";
import { serveRpc } from "../support/turn-rpc.mjs";

const gateway = useGateway("--delay-ms", "6");

/** A relay in front of a server of this protocol, and a wire to it. */
async function relayed(t, protocol, url) {
  const more = `[upstream.agent]\nprotocol = "${protocol}"\nurl = "${url.replace(/^http/, "ws")}"\nsessions = "open"\n`;
  const relay = await Relay.start(t, before(gateway.url, { more, limits: "streams_per_subject = 100" }));
  return { relay, wire: await Wire.before(t, relay) };
}

/** A client behind the relay at this URL; `sockets` are those that it has made. */
async function clientOf(t, url, protocol, more = {}) {
  const sockets = [];
  const webSocket = (url, protocols) => {
    const socket = new WebSocket(url, protocols);
    sockets.push(socket);
    return socket;
  };
  const client = await connect({ baseUrl: `${url}/agent`, protocol, relay: true, webSocket, ...more });
  t.after(() => client.close());
  return { client, sockets };
}

/** How often each method was called on a socket of the gateway, for a thread. */
async function askedOf({ id }) {
  const requests = await (await fetch(`${gateway.url}/_gateway/sessions/${id}/requests`)).json();
  return requests.map(({ frame }) => frame?.method).filter((method) => method !== undefined);
}

const numbersOf = (events) => events.map((event) => event.sequence_number);
const counted = (count) => Array.from({ length: count }, (_, at) => at + 1);

/** The text of the same answer without a relay. */
async function direct(input) {
  const webSocket = (url) => new WebSocket(url);
  const client = await connect({ baseUrl: `${gateway.url}/turn-rpc`, protocol: "turn-rpc", webSocket });
  const turn = (await client.agents.createSession("Chat")).createTurn(input);
  await turn.waitForCompletion();
  client.close();
  return textOf(turn);
}

describe("turn-rpc", WITH_RELAY, () => {
  test("a turn through the relay is the turn", async (t) => {
    const { relay } = await relayed(t, "turn-rpc", `${gateway.url}/turn-rpc`);
    const { client, sockets } = await clientOf(t, relay.url, "turn-rpc");
    const session = await client.agents.createSession("Chat");
    for (const input of ["plain", "markdown"]) {
      const turn = session.createTurn(input);
      const { events, error } = await collect(turn.stream());
      assert.equal(error, undefined);
      assert.deepEqual(numbersOf(events), counted(events.length));
      assert.equal(textOf(turn), await direct(input));
    }
    assert.deepEqual(sockets.map(({ protocol }) => protocol), ["turnwire.v1"]);
  });

  test("a connection that breaks repeatedly loses nothing, and nothing is read again", async (t) => {
    const { wire } = await relayed(t, "turn-rpc", `${gateway.url}/turn-rpc`);
    const { client, sockets } = await clientOf(t, wire.url, "turn-rpc", { reconnect: false });
    const session = await client.agents.createSession("Chat");
    const turn = session.createTurn("markdown");
    wire.breaksAfter = 25_000;
    wire.cut();
    const { events, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    assert.ok(wire.broken > 1 && sockets.length > 2, `${wire.broken} connections broke, ${sockets.length} were made`);
    // All messages have 440,000 bytes: each connection goes on where the last one broke.
    assert.ok(sockets.length <= 22, `some connections brought nothing new: there were ${sockets.length}`);
    assert.deepEqual(numbersOf(events), counted(events.length));
    assert.equal(textOf(turn), await direct("markdown"));
    assert.deepEqual([...new Set(await askedOf(session))].sort(), ["thread/start", "turn/start"]);
    assert.equal((await askedOf(session)).filter((method) => method === "turn/start").length, 1);
    wire.breaksAfter = Infinity;
    const history = await session.history();
    assert.deepEqual(history.map(textOf), [textOf(turn)]);
  });

  test("another client joins the turn, and one that was closed reads it when it reconnects", async (t) => {
    const { relay } = await relayed(t, "turn-rpc", `${gateway.url}/turn-rpc`);
    const first = await clientOf(t, relay.url, "turn-rpc");
    const session = await first.client.agents.createSession("Chat");
    const turn = session.createTurn("slow");
    for await (const { type } of turn.stream()) if (type === "model.message.delta") break;
    first.client.close();
    const second = await clientOf(t, relay.url, "turn-rpc");
    const { last } = await (await second.client.agents.getSession(session.id)).resume();
    assert.equal(last.id, turn.id);
    await Promise.all([last.waitForCompletion(), turn.waitForCompletion()]);
    assert.deepEqual([last.status, turn.status], ["done", "done"]);
    assert.deepEqual([textOf(last), textOf(turn)], Array(2).fill(await direct("slow")));
  });

  test("a relay that crashes has another journal: the turn is read from the server", async (t) => {
    const { relay } = await relayed(t, "turn-rpc", `${gateway.url}/turn-rpc`);
    const { client } = await clientOf(t, relay.url, "turn-rpc");
    const session = await client.agents.createSession("Chat");
    const turn = session.createTurn("markdown");
    const ended = collect(turn.stream());
    await new Promise((resolve) => turn.on("model.message.delta", resolve));
    await relay.restart();
    const { events, error } = await ended;
    assert.equal(error, undefined);
    assert.deepEqual(numbersOf(events), counted(events.length));
    assert.equal(textOf(turn), await direct("markdown"));
  });

  test("a server that is not a relay is an error that says so", async (t) => {
    const client = await connect({ baseUrl: `${gateway.url}/turn-rpc`, protocol: "turn-rpc", relay: true, webSocket: (url) => new WebSocket(url) });
    t.after(() => client.close());
    await assert.rejects(client.agents.createSession("Chat"), { code: "unexpected_response", message: /no relay/ });
  });
});

describe("codex", WITH_RELAY, () => {
  const TURN = { id: "u", status: "inProgress", items: [], error: null };
  const QUESTION = { id: 7, method: "item/commandExecution/requestApproval", params: { threadId: "t", turnId: "u", itemId: "c", command: "ls" } };
  const item = (text) => ({ type: "agentMessage", id: "m", text });
  const words = (from, to) => Array.from({ length: to - from }, (_, at) => `word ${from + at}, `);
  const say = (pieces) => pieces.map((delta) => ["item/agentMessage/delta", { threadId: "t", turnId: "u", itemId: "m", delta }]);
  const about = (more) => ({ threadId: "t", turnId: "u", ...more });
  const done = (text) => [
    ["item/completed", about({ item: item(text) })],
    ["turn/completed", { threadId: "t", turn: { ...TURN, status: "completed" } }],
  ];

  /** A server with one thread, whose turn says what the test says; a relay before it; and a client's turn. */
  async function begun(t) {
    const record = () => ({ id: "t", status: { type: "active", activeFlags: [] }, turns: [TURN] });
    const { server } = await serveRpc(t, {
      initialize: () => ({ userAgent: "test" }),
      "thread/start": () => ({ thread: record() }),
      "thread/resume": () => ({ thread: record() }),
      "thread/read": () => ({ thread: record() }),
      "thread/turns/list": () => ({ data: [TURN], nextCursor: null }),
      "turn/start": () => ({ turn: TURN }),
    }, { protocol: "codex" });
    const { wire } = await relayed(t, "codex", server.baseUrl);
    const { client } = await clientOf(t, wire.url, "codex");
    const session = await client.agents.createSession("codex");
    const turn = session.createTurn({ input: "Go" });
    const page = new AbortController();
    const ended = collect(turn.stream({ signal: page.signal }));
    await server.until("turn/start");
    const agent = server.peers[0];
    agent.tell(["turn/started", { threadId: "t", turn: TURN }], ["item/started", about({ item: item("") })]);
    return { server, agent, wire, client, session, turn, ended, page };
  }

  /** Answers what a turn waits for. */
  async function allow(turn) {
    await eventually(() => turn.snapshot().required_actions.length === 1);
    const [{ thread_id, tool_call_id }] = turn.snapshot().required_actions;
    await turn.answer({ type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "allow" } });
  }

  test("what is said while a client is away is delivered when it reconnects, without a request", async (t) => {
    const { server, agent, wire, turn, ended } = await begun(t);
    for (let at = 0; at < 10; at += 1) {
      agent.tell(...say(words(at * 10, at * 10 + 5)));
      await eventually(() => textOf(turn).includes(`word ${at * 10 + 4},`));
      wire.cut();
      agent.tell(...say(words(at * 10 + 5, at * 10 + 10)));
    }
    agent.tell(...done(words(0, 100).join("")));
    const { events, error } = await ended;
    assert.equal(error, undefined);
    assert.deepEqual(numbersOf(events), counted(events.length));
    assert.deepEqual([turn.status, textOf(turn)], ["done", words(0, 100).join("")]);
    assert.deepEqual(server.asked, ["initialize", "thread/start", "turn/start"]);
    assert.equal(server.peers.length, 1);
  });

  test("an answer that breaks with its connection is sent once", async (t) => {
    const { server, agent, wire, turn, ended } = await begun(t);
    agent.write(QUESTION);
    await eventually(() => turn.snapshot().required_actions.length === 1);
    wire.cut();
    await allow(turn);
    wire.cut();
    await eventually(() => server.others.some(({ id }) => id === 7));
    agent.tell(["serverRequest/resolved", { threadId: "t", requestId: 7 }], ...say(["ok"]), ...done("ok"));
    assert.equal((await ended).error, undefined);
    assert.deepEqual(server.others.filter(({ id }) => id === 7).map(({ result }) => result), [{ decision: "accept" }]);
    assert.deepEqual([turn.status, textOf(turn)], ["done", "ok"]);
  });

  test("an approval that is requested while no client is there is answered by another client", async (t) => {
    const { server, agent, client, session, turn, ended, wire, page } = await begun(t);
    agent.tell(...say(["first, "]));
    await eventually(() => textOf(turn) === "first, ");
    page.abort();
    assert.equal((await ended).error.code, "aborted");
    client.close();
    agent.write(QUESTION);
    const second = await clientOf(t, wire.url, "codex");
    const { last } = await (await second.client.agents.getSession(session.id)).resume();
    const read = last.waitForCompletion();
    await allow(last);
    await eventually(() => server.others.some(({ id }) => id === 7));
    agent.tell(["serverRequest/resolved", { threadId: "t", requestId: 7 }], ...say(["then"]), ...done("first, then"));
    await read;
    assert.deepEqual([last.status, textOf(last)], ["done", "first, then"]);
    assert.equal(server.others.filter(({ id }) => id === 7).length, 1);
    assert.deepEqual([server.peers.length, server.count("initialize"), server.count("turn/start")], [1, 1, 1]);
  });

  test("two clients read one turn, and one of them answers", async (t) => {
    const { server, agent, session, turn, ended, wire } = await begun(t);
    const second = await clientOf(t, wire.url, "codex");
    const { last } = await (await second.client.agents.getSession(session.id)).resume();
    const other = collect(last.stream());
    agent.write(QUESTION);
    await eventually(() => turn.snapshot().required_actions.length === 1);
    await allow(last);
    await eventually(() => server.others.some(({ id }) => id === 7));
    agent.tell(["serverRequest/resolved", { threadId: "t", requestId: 7 }], ...say(["ok"]), ...done("ok"));
    assert.deepEqual([(await ended).error, (await other).error], [undefined, undefined]);
    for (const one of [turn, last]) assert.deepEqual([one.status, textOf(one), one.snapshot().required_actions], ["done", "ok", []]);
    assert.equal(server.peers.length, 1);
  });
});
