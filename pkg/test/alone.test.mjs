// A turn that is only waited for: its stream is read nevertheless, so that the snapshot has everything that a loop over
// the stream brings, whenever the page subscribes. Against the development gateway, in each protocol.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebSocket } from "ws";
import { connect } from "../dist/index.js";
import { collect } from "./support/collect.mjs";
import { useGateway, WITH_GATEWAY } from "./support/gateway.mjs";
import { PATHS } from "./support/protocols.mjs";

const gateway = useGateway();

const ALL = { ...PATHS, "awaken without an event store": "/awaken-plain" };
/** A server that must not be called. */
const ASKS = (name) => name !== "turn-rpc";
/** Where a turn can be started without a stream. */
const DETACHED = ["truefoundry", "trueforge", "turn-rpc"];
/** Where a turn can be found again by its id, by another client. */
const FOUND = ["truefoundry", "trueforge", "awaken", "awaken without an event store"];

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A client, all of whose turns have this many milliseconds between their events. */
async function dial(t, name, delay = "0.2") {
  const protocol = name.split(" ")[0];
  const headers = { "x-turnwire-delay-ms": delay };
  const own = protocol === "turn-rpc" ? { webSocket: (url) => new WebSocket(url, { headers }) } : { headers };
  const client = await connect({ baseUrl: gateway.url + ALL[name], protocol, ...own });
  t.after(() => client.close());
  return client;
}

/** A turn of a new session that plays this script. */
async function prepare(t, name, script, delay) {
  const client = await dial(t, name, delay);
  const session = await client.agents.createSession(name === "turn-rpc" ? "Chat" : "support-bot");
  return { client, session, turn: session.createTurn({ input: script }) };
}

/** The turn after a loop over its stream. */
async function streamed(t, name, script) {
  const { turn } = await prepare(t, name, script);
  assert.equal((await collect(turn.stream())).error, undefined);
  return conversation(turn);
}

/** What a snapshot shows, without generated names and times. */
function conversation(turn) {
  const { status, threads, required_actions, error } = turn.snapshot();
  assert.equal(error, null);
  return {
    status,
    threads: threads.map((thread) => ({
      title: thread.title,
      status: thread.status,
      messages: thread.messages.map(({ content, reasoning_content, refusal, finish_reason, tool_calls }) => ({
        content, reasoning_content, refusal, finish_reason,
        calls: tool_calls.map(({ name, arguments: json, status, response }) => [name, json, status, response?.content.replace(/[0-9a-f]{32}/g, "ID")]),
      })),
    })).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    actions: required_actions.map(({ type, name, arguments: json }) => [type, name, json]),
  };
}

/** Each action that waits has its call, which is in a message of the snapshot. */
function demandCalls(turn) {
  const { required_actions, threads } = turn.snapshot();
  assert.ok(required_actions.length > 0);
  for (const { thread_id, tool_call_id, name, arguments: json } of required_actions) {
    assert.notEqual(name, "");
    assert.equal(typeof JSON.parse(json), "object");
    const { messages } = threads.find(({ id }) => id === thread_id);
    assert.ok(messages.some(({ tool_calls }) => tool_calls.some(({ id }) => id === tool_call_id)), tool_call_id);
  }
}

for (const name of Object.keys(ALL)) {
  describe(name, WITH_GATEWAY, () => {
    for (const script of ["plain", "reasoning", "tools", "parallel", "approval", "subagents", "subagents approval"]) {
      test(`waitForCompletion() alone brings all that a loop brings: ${script}`, async (t) => {
        const expected = await streamed(t, name, script);
        const { turn } = await prepare(t, name, script);
        await turn.waitForCompletion();
        assert.deepEqual(conversation(turn), expected);
        if (script === "approval" && ASKS(name)) demandCalls(turn);
      });
    }

    for (const late of [0, 50]) {
      test(`a subscriber or listener that comes ${late} ms after the wait began misses nothing`, async (t) => {
        const script = ASKS(name) ? "approval" : "plain";
        const expected = await streamed(t, name, script);
        const { turn } = await prepare(t, name, script, "10");
        const waiting = turn.waitForCompletion();
        await wait(late);
        assert.equal(turn.snapshot().state, null, "it still runs");
        const [heard, seen] = [[], []];
        turn.on("event", (event) => heard.push(event));
        turn.subscribe(() => seen.push(turn.snapshot()));
        await waiting;
        await wait(300);
        assert.equal(seen.at(-1), turn.snapshot());
        for (const { required_actions } of seen) for (const action of required_actions) assert.notEqual(action.name, "");
        assert.deepEqual(heard.map((event) => event.sequence_number), heard.map((_, at) => at + 1));
        assert.deepEqual([heard[0].type, heard.at(-1).type], ["turn.created", "turn.done"]);
        assert.deepEqual(conversation(turn), expected);
      });

      test(`a loop that begins ${late} ms after the wait gets every event from the first on`, async (t) => {
        const expected = await streamed(t, name, "tools");
        const { turn } = await prepare(t, name, "tools", "10");
        const waiting = turn.waitForCompletion();
        await wait(late);
        const { events, error } = await collect(turn.stream());
        assert.equal(error, undefined);
        assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, at) => at + 1));
        assert.deepEqual([events[0].type, events.at(-1).type], ["turn.created", "turn.done"]);
        assert.deepEqual(events.at(-1).state, await waiting);
        assert.deepEqual(conversation(turn), expected);
      });
    }

    test("a turn that was waited for reports its end to later callers", async (t) => {
      const { turn } = await prepare(t, name, "plain");
      await turn.waitForCompletion();
      const shown = turn.snapshot();
      const heard = [];
      turn.on("event", (event) => heard.push(event));
      assert.throws(() => turn.stream(), { code: "turn_already_streamed" });
      await turn.waitForCompletion();
      assert.equal(turn.snapshot(), shown);
      assert.deepEqual(heard, []);
    });

    if (DETACHED.includes(name)) {
      for (const script of ["tools", "approval"]) {
        const prepared = async (t) => {
          const { turn } = await prepare(t, name, script, "10");
          assert.equal((await turn.state()).status, "running");
          return turn;
        };

        test(`a turn that state() started is waited for: ${script}`, async (t) => {
          const turn = await prepared(t);
          await turn.waitForCompletion();
          assert.deepEqual(conversation(turn), await streamed(t, name, script));
          if (script === "approval" && ASKS(name)) demandCalls(turn);
        });

        test(`a turn that state() started, and state() finds ended: ${script}`, async (t) => {
          const turn = await prepared(t);
          while ((await turn.state()).status === "running") await wait(5);
          assert.deepEqual(conversation(turn), await streamed(t, name, script));
          if (script === "approval" && ASKS(name)) demandCalls(turn);
        });
      }
    }

    if (FOUND.includes(name)) {
      test("a paused turn that another client reads by its id shows its pending calls", async (t) => {
        const { session, turn } = await prepare(t, name, "approval");
        await turn.waitForCompletion();
        const client = await dial(t, name);
        const found = await (await client.agents.getSession(session.id)).getTurn(turn.id);
        demandCalls(found);
        assert.deepEqual(conversation(found).actions, conversation(turn).actions);
        const shown = found.snapshot();
        assert.equal((await found.waitForCompletion()).status, "done");
        assert.equal(found.snapshot(), shown);
      });
    }

    if (FOUND.includes(name)) {
      test("a running turn that another client reads by its id, and waits for", async (t) => {
        const expected = await streamed(t, name, "approval");
        const { session, turn } = await prepare(t, name, "approval", "15");
        const waiting = turn.waitForCompletion();
        while (turn.id === null) await wait(2);
        const client = await dial(t, name);
        const found = await (await client.agents.getSession(session.id)).getTurn(turn.id);
        assert.equal(found.status, "running");
        await found.waitForCompletion();
        demandCalls(found);
        assert.deepEqual(conversation(found).actions, expected.actions);
        assert.deepEqual(conversation(found).threads.map(({ messages }) => messages.map(({ content }) => content)), expected.threads.map(({ messages }) => messages.map(({ content }) => content)));
        await waiting;
      });
    }
  });
}
