// Runs whose connection breaks, where the server returns the thread and not the run: against the development gateway, which stands
// for Agent Framework with a store (`snapshot`) and for ADK (`state`). And messages whose run never answered.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allow, connect } from "../../dist/index.js";
import { memoryStore } from "../conversation/support.mjs";
import { collect, failure, textOf } from "../support/collect.mjs";
import { useGateway, WITH_GATEWAY } from "../support/gateway.mjs";

const gateway = useGateway();

/** The requests of each way after a run broke. */
const WAYS = { snapshot: "store", state: "state" };

/** A session on the gateway, and its requests: the last part of each address, and how many messages were sent. */
async function open({ path = "/ag-ui/store", faults = {}, pace = "0.1", recovery, store = memoryStore(), id } = {}) {
  const asked = [];
  const posted = [];
  const fetch = (url, init) => {
    const name = new URL(url).pathname.split("/").at(-1);
    const { messages = [] } = JSON.parse(init.body);
    asked.push(name);
    if (messages.length > 0) posted.push(messages.length);
    const headers = new Headers(init.headers);
    headers.set("x-turnwire-delay-ms", pace);
    const fault = faults[name]?.shift();
    if (fault) headers.set("x-turnwire-fault", fault);
    return globalThis.fetch(url, { ...init, headers });
  };
  const client = await connect({ baseUrl: gateway.url + path, protocol: "ag-ui", fetch, store, reconnect: { baseDelay: 2, maxDelay: 20 } });
  const own = recovery ? { recovery } : {};
  const session = await (id ? client.agents.getSession(id, own) : client.agents.createSession("any", own));
  return { session, asked, posted };
}

/** Plays a turn; returns what it reported. Ids are random. */
async function play(given, word) {
  const { session, asked, posted } = await open(given);
  const turn = session.createTurn(word);
  let frames = 0;
  turn.on("native", () => (frames += 1));
  const { events, error } = await collect(turn.stream());
  assert.equal(error, undefined, `${word}: ${error}`);
  const { threads, agent_state, required_actions } = turn.snapshot();
  const pieces = events.filter(({ type }) => type === "model.message.delta");
  const count = (type) => events.filter((event) => event.type === type).length;
  return {
    frames,
    asked,
    posted,
    outcome: {
      status: turn.status,
      shown: threads.map(({ messages, tool_responses }) => [
        messages.map(({ content, tool_calls }) => [content, tool_calls.map(({ name, arguments: text }) => [name, text])]),
        tool_responses.map(({ content }) => content),
      ]),
      told: pieces.map(({ content }) => content ?? "").join(""),
      counts: ["turn.created", "tool.response", "turn.done", "model.message"].map(count),
      agent_state,
      actions: required_actions.map(({ type, name }) => [type, name]),
      sent: JSON.parse(session.messages()).messages.map(({ role, content }) => [role, content]),
    },
  };
}

for (const [recovery, again] of Object.entries(WAYS)) {
  describe(`a thread that is read again (${recovery})`, WITH_GATEWAY, () => {
    for (const word of ["plain", "tools", "state", ...(recovery === "snapshot" ? ["approval"] : [])]) {
      test(`${word}: cut after any frame, nothing is repeated or lost`, async () => {
        const uncut = await play({ recovery }, word);
        assert.ok(uncut.frames > 3, `${uncut.frames} frames`);
        const places = [1, 2, 3, 5, 8, uncut.frames - 3, uncut.frames - 1].filter((at) => at < uncut.frames);
        await Promise.all(
          places.map(async (at) => {
            const cut = await play({ recovery, faults: { store: [`reset:${at}`] } }, word);
            assert.deepEqual(cut.outcome, uncut.outcome, `${word}, after ${at}`);
            assert.deepEqual([...new Set(cut.asked.slice(1))], [again]);
            assert.equal(cut.posted.length, 1, "it was sent once");
          }),
        );
      });
    }

    test("the run still goes on, and the server fails meanwhile", async () => {
      const uncut = await play({ recovery }, "tools");
      const refusals = ["status:503", "reset:0"];
      const faults = recovery === "state" ? { store: ["eof:5"], state: refusals } : { store: ["eof:5", ...refusals] };
      const cut = await play({ recovery, faults, pace: "12" }, "tools");
      assert.deepEqual(cut.outcome, uncut.outcome);
      assert.equal(cut.posted.length, 1);
      assert.ok(cut.asked.length > 3, `${cut.asked}`);
    });

    test("a page that reloads in the middle of a run reads it to its end", async () => {
      const store = memoryStore();
      const before = await open({ recovery, store, pace: "4" });
      await before.session.createTurn("plain one").waitForCompletion();
      const left = before.session.createTurn("tools");
      const over = failure(left.waitForCompletion());
      await new Promise((resolve) => left.on("model.message.delta", resolve));
      left[Symbol.dispose]();
      assert.equal((await over).code, "aborted");
      const { session, posted } = await open({ recovery, store, id: before.session.id });
      const turns = await session.resume();
      assert.equal(turns.last.status, "running");
      await turns.last.waitForCompletion();
      assert.deepEqual([turns.length, turns.last.status, posted], [2, "done", []]);
      const uncut = await open({ recovery });
      await uncut.session.createTurn("plain one").waitForCompletion();
      const whole = uncut.session.createTurn("tools");
      await whole.waitForCompletion();
      assert.equal(textOf(turns.last), textOf(whole));
      const said = (one) => JSON.parse(one.messages()).messages.map(({ role, content }) => [role, content]);
      assert.deepEqual(said(session), said(uncut.session));
      const next = session.createTurn("plain three");
      await next.waitForCompletion();
      assert.equal(next.status, "done");
    });

    test("where the thread cannot be read, the run is incomplete with all that came", async () => {
      const faults = recovery === "state" ? { store: ["reset:5"], state: ["status:404"] } : { store: ["reset:5", "status:404"] };
      const { session, posted } = await open({ recovery, faults });
      const turn = session.createTurn("plain");
      const error = await failure(turn.waitForCompletion());
      assert.deepEqual([error.code, turn.status], ["http", "incomplete"], `${error}`);
      assert.notEqual(textOf(turn), "");
      assert.equal(posted.length, 1);
    });

    test("a cancelled turn is no longer read", async () => {
      const { session, asked } = await open({ recovery, pace: "30" });
      const turn = session.createTurn("long 500");
      const over = turn.waitForCompletion();
      await new Promise((resolve) => turn.on("model.message.delta", resolve));
      await turn.cancel();
      await over;
      assert.deepEqual([turn.status, asked], ["cancelled", ["store"]]);
    });
  });
}

describe("a thread", WITH_GATEWAY, () => {
  test("a start whose answer is lost is found by its message, and never sent again", async () => {
    const uncut = await play({ recovery: "state" }, "plain");
    const found = await play({ recovery: "state", faults: { store: ["lost"] } }, "plain");
    assert.deepEqual(found.outcome, uncut.outcome);
    assert.equal(found.posted.length, 1);
  });

  test("pending calls after the recovery are answered as usual", async () => {
    const { session } = await open({ recovery: "snapshot", faults: { store: ["reset:6"] } });
    const turn = session.createTurn("approval");
    await turn.waitForCompletion();
    const [action] = turn.snapshot().required_actions;
    assert.equal(action.type, "tool.approval_required");
    const next = session.createTurn([allow(action)]);
    await next.waitForCompletion();
    assert.deepEqual([next.status, next.snapshot().required_actions.length], ["done", 0]);
  });
});

describe("a message whose run never answered", WITH_GATEWAY, () => {
  test("the message is in the conversation, also after a reload; one that was refused is not", async () => {
    for (const [fault, said] of [["lost", ["plain one"]], ["status:422", []]]) {
      const store = memoryStore();
      const { session } = await open({ path: "/ag-ui", store, faults: { "ag-ui": [fault] } });
      await failure(session.createTurn("plain one").waitForCompletion());
      const users = (one) => JSON.parse(one.messages() || "{}").messages?.filter(({ role }) => role === "user").map(({ content }) => content) ?? [];
      assert.deepEqual(users(session), said, fault);
      const { session: later } = await open({ path: "/ag-ui", store, id: session.id });
      assert.deepEqual(users(later), said, `${fault}, after a reload`);
      await later.createTurn("plain two").waitForCompletion();
      assert.deepEqual(users(later), [...said, "plain two"]);
    }
  });
});
