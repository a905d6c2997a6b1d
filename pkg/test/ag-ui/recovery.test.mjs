// Runs whose connection breaks, where the server repeats them, and runs whose connection stays open: against the development
// gateway, which stands for CopilotKit's runtime.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allow, connect } from "../../dist/index.js";
import { memoryStore } from "../conversation/support.mjs";
import { collect, failure, textOf } from "../support/collect.mjs";
import { useGateway, WITH_GATEWAY } from "../support/gateway.mjs";

const gateway = useGateway();

const COPILOT = "/ag-ui/copilotkit/agent/support-bot/run";

/**
 * A session on the gateway, and the requests that it makes. `faults` are those of each next request whose address ends in
 * `run`, `connect` or `stop`.
 */
async function open({ path = COPILOT, faults = {}, pace = "0.1", recovery = "connect", store = memoryStore(), id, ...options } = {}) {
  const asked = [];
  const fetch = (url, init) => {
    const name = new URL(url).pathname.split("/").at(path === COPILOT ? 5 : 1);
    asked.push(name);
    const headers = new Headers(init.headers);
    headers.set("x-turnwire-delay-ms", pace);
    const fault = faults[name]?.shift();
    if (fault) headers.set("x-turnwire-fault", fault);
    return globalThis.fetch(url, { ...init, headers });
  };
  const reconnect = { baseDelay: 2, maxDelay: 20 };
  const client = await connect({ baseUrl: gateway.url + path, protocol: "ag-ui", fetch, store, reconnect, ...options });
  const own = path === COPILOT ? { recovery } : {};
  const session = await (id ? client.agents.getSession(id, own) : client.agents.createSession("any", own));
  return { session, asked };
}

/** Plays a turn; returns what it reported. Ids are random: texts, types and states are compared. */
async function play(given, word) {
  const { session, asked } = await open(given);
  const turn = session.createTurn(word);
  let frames = 0;
  // A listener to frames bypasses the hot path.
  if (!given.faults) turn.on("native", () => (frames += 1));
  const { events, error } = await collect(turn.stream());
  assert.equal(error, undefined, `${word}: ${error}`);
  const { threads, agent_state, activities, notices, required_actions } = turn.snapshot();
  const shown = threads.map(({ messages, tool_responses }) => ({
    messages: messages.map(({ content, reasoning_content, tool_calls, finish_reason }) => [content, reasoning_content, tool_calls?.map((call) => call.function), finish_reason]),
    responses: tool_responses.map(({ content, parts }) => [content, parts]),
  }));
  // The pieces of each message. Pieces of other messages may come in between.
  const told = (field) => {
    const texts = new Map();
    for (const event of events) if (event.type === "model.message.delta") texts.set(event.id, (texts.get(event.id) ?? "") + (event[field] ?? ""));
    return [...texts.values()].sort();
  };
  const counts = {};
  for (const { type } of events) if (!/^state\.|delta$/.test(type)) counts[type] = (counts[type] ?? 0) + 1;
  const sent = JSON.parse(session.messages()).messages.map(({ role, content }) => [role, content]);
  return {
    frames,
    asked,
    outcome: {
      status: turn.status,
      shown,
      told: [told("content"), told("reasoning_content")],
      counts,
      agent_state,
      activities: activities?.map(({ content }) => content),
      notices: notices.map(({ code }) => code),
      actions: required_actions.map(({ type, name }) => [type, name]),
      sent,
    },
  };
}

const WORDS = ["plain", "reasoning", "tools", "parallel", "state", "activity", "parts", "custom", "roles", "approval", "subagents"];

describe("a run that the server repeats", WITH_GATEWAY, () => {
  for (const word of WORDS) {
    test(`${word}: cut after any frame, nothing is repeated or lost`, async () => {
      const uncut = await play({}, word);
      assert.ok(uncut.frames > 3, `${uncut.frames} frames`);
      // A script of many frames is cut after each of the first and the last, and some between.
      const places = Array.from({ length: uncut.frames }, (_, at) => at);
      const some = places.filter((at) => at < 8 || at > uncut.frames - 8 || at % 7 === 0);
      for (const at of some) {
        const kind = at % 2 ? "reset" : "eof";
        // An answer without frames refuses a start.
        if (at === 0) continue;
        const ended = await play({ faults: { run: [`${kind}:${at}`] } }, word);
        assert.deepEqual(ended.outcome, uncut.outcome, `${word}, ${kind} after ${at}`);
        assert.deepEqual(ended.asked, ["run", "connect"], `${word}, ${kind} after ${at}`);
      }
    });
  }

  test("the run still goes on, and breaks again", async () => {
    const uncut = await play({}, "tools");
    for (const [first, second] of [[2, 3], [5, 9], [9, 9], [12, 20]]) {
      const faults = { run: [`reset:${first}`], connect: [`eof:${second}`, "status:503", `reset:${second + 4}`] };
      const cut = await play({ faults, pace: "6" }, "tools");
      assert.deepEqual(cut.outcome, uncut.outcome, `after ${first} and ${second}`);
      assert.deepEqual(cut.asked, ["run", "connect", "connect", "connect", "connect"]);
    }
  });

  test("a start whose answer is lost is found, and never sent again", async () => {
    const uncut = await play({}, "plain");
    // The last one breaks off within the first frame.
    for (const fault of ["lost", "late-status:502", "eof-bytes:10"]) {
      const found = await play({ faults: { run: [fault] } }, "plain");
      assert.deepEqual(found.outcome, uncut.outcome, fault);
      assert.deepEqual(found.asked, ["run", "connect"], fault);
    }
    const { session, asked } = await open({ faults: { run: ["refuse"] } });
    const turn = session.createTurn("plain");
    const error = await failure(turn.waitForCompletion());
    assert.deepEqual([error.code, turn.status], ["incomplete", "incomplete"]);
    assert.match(error.message, /may have begun/);
    assert.deepEqual(asked, ["run", "connect", "connect", "connect"], "the server knows no such run");
  });

  test("the second turn of a session is found behind the first one", async () => {
    const faults = { run: [undefined, "eof:4"] };
    const { session, asked } = await open({ faults });
    await session.createTurn("plain one").waitForCompletion();
    const turn = session.createTurn("plain two");
    const { events } = await collect(turn.stream());
    assert.equal(turn.status, "done");
    assert.equal(events.filter(({ type }) => type === "turn.done").length, 1);
    assert.equal(textOf(turn), events.map(({ type, content }) => (type === "model.message.delta" ? (content ?? "") : "")).join(""));
    assert.deepEqual(asked, ["run", "run", "connect"]);
  });

  test("without the option, or where the endpoint is missing, the run is incomplete with all that came", async () => {
    for (const [given, expected] of [
      [{ recovery: null }, ["run"]],
      [{ faults: { connect: ["status:404"] } }, ["run", "connect"]],
    ]) {
      const { session, asked } = await open({ ...given, faults: { run: ["reset:5"], ...given.faults } });
      const turn = session.createTurn("plain");
      const error = await failure(turn.waitForCompletion());
      assert.deepEqual([error.code, turn.status], [given.faults ? "http" : "incomplete", "incomplete"], `${error}`);
      assert.notEqual(textOf(turn), "");
      assert.deepEqual(asked, expected);
    }
  });

  test("pending calls after the recovery are answered as usual", async () => {
    const { session } = await open({ faults: { run: ["eof:6"] } });
    const turn = session.createTurn("approval");
    await turn.waitForCompletion();
    const [action] = turn.snapshot().required_actions;
    assert.equal(action.type, "tool.approval_required");
    const next = session.createTurn([allow(action)]);
    await next.waitForCompletion();
    assert.deepEqual([next.status, next.snapshot().required_actions.length], ["done", 0]);
  });

  test("a page that reloads in the middle of a run reads it to its end, and what came before is unchanged", async () => {
    const store = memoryStore();
    const before = await open({ store, pace: "4" });
    await before.session.createTurn("plain one").waitForCompletion();
    const left = before.session.createTurn("state");
    const over = failure(left.waitForCompletion());
    await new Promise((resolve) => left.on("state.delta", resolve));
    left[Symbol.dispose]();
    assert.equal((await over).code, "aborted");
    const { session, asked } = await open({ store, id: before.session.id });
    const turns = await session.resume();
    assert.equal(turns.last.status, "running");
    await turns.last.waitForCompletion();
    assert.deepEqual([turns.length, turns.last.status, asked], [2, "done", ["connect"]]);
    const uncut = await open();
    await uncut.session.createTurn("plain one").waitForCompletion();
    const whole = uncut.session.createTurn("state");
    await whole.waitForCompletion();
    assert.equal(textOf(turns.last), textOf(whole));
    assert.deepEqual(turns.last.snapshot().agent_state, whole.snapshot().agent_state);
    const said = (one) => JSON.parse(one.messages()).messages.map(({ role, content }) => [role, content]);
    assert.deepEqual(said(session), said(uncut.session));
    const next = session.createTurn("plain three");
    await next.waitForCompletion();
    const again = await open({ store, id: session.id });
    assert.deepEqual((await again.session.history()).map(({ status }) => status), ["done", "done", "done"]);
  });

  test("a turn that is cancelled is stopped on the server, and the next one waits for that", async () => {
    const { session, asked } = await open({ pace: "30" });
    assert.equal(session.capabilities.resume, "history");
    const turn = session.createTurn("long 500");
    const over = turn.waitForCompletion();
    await new Promise((resolve) => turn.on("model.message.delta", resolve));
    await turn.cancel();
    await over;
    assert.equal(turn.status, "cancelled");
    const next = session.createTurn("plain");
    await next.waitForCompletion();
    assert.deepEqual([next.status, asked], ["done", ["run", "stop", "connect", "run"]]);
  });

  for (const status of [404, 409, 500]) {
    test(`a stop that the server refuses with ${status} does not keep the next turn from starting`, async (t) => {
      const reported = [];
      globalThis.reportError = (error) => reported.push(error.status);
      t.after(() => delete globalThis.reportError);
      const { session } = await open({ pace: "5", faults: { stop: Array(20).fill(`status:${status}`) } });
      const turn = session.createTurn("long 20");
      const over = turn.waitForCompletion();
      await new Promise((resolve) => turn.on("model.message.delta", resolve));
      await turn.cancel();
      await over;
      await new Promise((resolve) => setTimeout(resolve, 500));
      const next = session.createTurn("plain");
      await next.waitForCompletion();
      assert.equal(next.status, "done");
      // One that has just ended cannot be stopped; anything else is reported.
      assert.deepEqual(reported, status === 500 ? [500] : []);
    });
  }
});

describe("a run of a server that keeps nothing", WITH_GATEWAY, () => {
  for (const fault of ["eof:5", "lost", "eof-bytes:10"]) {
    test(`${fault}: the turn is incomplete, and another stream() sends nothing`, async () => {
      const { session, asked } = await open({ path: "/ag-ui", faults: { "ag-ui": [fault] } });
      const turn = session.createTurn("plain");
      for (let tries = 0; tries < 2; tries += 1) {
        const { error } = await collect(turn.stream());
        assert.deepEqual([error.code, turn.status], ["incomplete", "incomplete"]);
        assert.match(error.message, /the agent keeps no history/);
      }
      assert.deepEqual(asked, ["ag-ui"]);
    });
  }
});

describe("a connection that the server keeps open after the end of a run", WITH_GATEWAY, () => {
  const streams = async () => (await (await fetch(`${gateway.url}/_gateway/streams`)).json()).open;

  for (const path of ["/ag-ui", COPILOT]) {
    test(`${path}: the turn is done a second later, independent of the allowed silence, and comments do not delay it`, async () => {
      const uncut = await open({ path });
      let frames = 0;
      const first = uncut.session.createTurn("plain");
      first.on("native", () => (frames += 1));
      await first.waitForCompletion();
      for (const kind of ["stall", "comments"]) {
        const { session, asked } = await open({ path, faults: { run: [`${kind}:${frames}`], "ag-ui": [`${kind}:${frames}`] }, idleTimeout: 0 });
        const turn = session.createTurn("plain");
        const idle = [];
        turn.on("idle", (event) => idle.push(event));
        const began = performance.now();
        await turn.waitForCompletion();
        const took = performance.now() - began;
        assert.deepEqual([turn.status, textOf(turn)], ["done", textOf(first)], kind);
        assert.ok(took > 900 && took < 10_000, `${kind}: it took ${took} ms`);
        assert.deepEqual(idle, []);
        assert.equal(asked.length, 1);
        while ((await streams()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
  }
});
