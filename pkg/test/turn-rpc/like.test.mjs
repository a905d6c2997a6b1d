// Messages that equal an earlier one except for a piece of text take a short path into the core. A turn with a listener
// to raw messages takes the long path for each: both must have the same result.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { random } from "../../../tests/bench/random.mjs";
import { fakeSockets } from "../support/fake-socket.mjs";

const THREAD = { id: "t", status: { type: "idle" }, created_at: 1, turns: [] };

const WIRES = {
  codex: {
    results: ({ params }) => ({ initialize: { userAgent: "test" }, "thread/start": { thread: THREAD }, "turn/start": { turn: { id: "u", status: "inProgress", items: [] } } }),
    agent: "codex",
    delta: (text, { item, number, rest }) => `{"method":"item/agentMessage/delta","params":{"threadId":"THREAD","turnId":"TURN","itemId":"${item}","delta":"${text}"},"emittedAtMs":${number}${rest}}`,
    others: [
      (text) => `{"emittedAtMs":1,"params":{"delta":"${text}","itemId":"m0","turnId":"TURN","threadId":"THREAD"},"method":"item/agentMessage/delta"}`,
      (text) => `{"method":"item/reasoning/summaryTextDelta","params":{"threadId":"THREAD","turnId":"TURN","itemId":"r","summaryIndex":0,"delta":"${text}"}}`,
      (text) => `{"method":"item/agentMessage/delta","params":{"threadId":"other","turnId":"TURN","itemId":"m0","delta":"${text}"},"emittedAtMs":1}`,
      (text) => `{"method":"item/completed","params":{"threadId":"THREAD","turnId":"TURN","item":{"type":"agentMessage","id":"m1","text":"${text}"}}}`,
      (text) => `{"method":"item/commandExecution/outputDelta","params":{"threadId":"THREAD","turnId":"TURN","itemId":"c","delta":"${text}"}}`,
    ],
    end: `{"method":"turn/completed","params":{"threadId":"THREAD","turn":{"id":"TURN","status":"completed"}}}`,
  },
  "turn-rpc": {
    results: ({ params = {} }) => ({
      "workspace/default": { workspace: { id: "w", name: "Default" } },
      "thread/start": { thread: { ...THREAD, workspace_id: "w", id: params.thread_id } },
      "turn/start": { turn: { id: params.turn_id, status: "InProgress" } },
    }),
    agent: "Chat",
    delta: (text, { item, rest, number }) =>
      `{"jsonrpc":"2.0","method":"item/agent_message/delta","params":{"workspace_id":"w","thread_id":"THREAD","turn_id":"TURN","item_id":"${item}","delta":"${text}","stream":"agent_message","markdown":{"blocks":[{"text":"${text} ${number}"}]${rest}},"markdown_version":1}}`,
    others: [
      (text) => `{"jsonrpc":"2.0","method":"item/agent_message/delta","params":{"markdown":{"a":"${text}"},"markdown_version":1,"delta":"${text}","stream":"generic","item_id":"r","turn_id":"TURN","thread_id":"THREAD"}}`,
      (text) => `{"jsonrpc":"2.0","method":"item/agent_message/delta","params":{"thread_id":"THREAD","turn_id":"TURN","item_id":"m0","delta":"${text}","stream":"agent_message","more":[1]}}`,
      (text) => `{"jsonrpc":"2.0","method":"item/completed","params":{"thread_id":"THREAD","turn_id":"TURN","item":{"type":"agentMessage","id":"m1","text":"${text}","markdown":{"a":1}}}}`,
      (text) => `{"jsonrpc":"2.0","method":"item/command_execution/output_delta","params":{"thread_id":"THREAD","turn_id":"TURN","item_id":"c","delta":"${text}","stream":"stdout","payload":{"kind":"output_chunk","truncated":false},"markdown":null,"markdown_version":1}}`,
    ],
    end: `{"jsonrpc":"2.0","method":"turn/completed","params":{"thread_id":"THREAD","turn":{"id":"TURN","status":"Completed"}}}`,
  },
};

/** Insides of JSON strings, some of them broken. */
const TEXTS = ["a", " word", "", "é", "東京", "😀", "\\n", '\\"', "\\\\", '\\\\\\"', "\\u0041", "\\ud83d\\ude00", "\\ud83d", "\ud83d", "x".repeat(300), "y".repeat(9000), "\\x", "\u0001", '"', "t", "\\", ", \\\"delta\\\":\\\"b"];
const NUMBERS = [1, 1795257432001, 1795257432002, 10, "0", "01", "-1", "1.5", "1e3", "null", ""];
const RESTS = ["", "", "", "", "", "", ',"more":[]', ",", "}"];

/** Plays messages to a turn, this many in each task; returns its events and its snapshot. */
async function played(t, protocol, steps, isNative) {
  const { results, agent, end } = WIRES[protocol];
  const sockets = [];
  let ids;
  const take = (socket, request) => {
    if (request.method === "turn/start") ids = [request.params.thread_id ?? "t", request.params.turn_id ?? "u"];
    if (request.id !== undefined) socket.say({ id: request.id, result: results(request)[request.method] });
  };
  const client = await connect({ baseUrl: "http://rpc.test", protocol, webSocket: fakeSockets(sockets, take), reconnect: false });
  t.after(() => client.close());
  const turn = (await client.agents.createSession(agent)).createTurn({ input: "Go" });
  const events = [];
  turn.on("event", (event) => events.push(structuredClone(event)));
  const listen = () => turn.on("native", () => {});
  let unlisten = isNative ? listen() : undefined;
  const ended = turn.waitForCompletion();
  while (turn.status !== "running") await new Promise((resolve) => setTimeout(resolve, 1));
  const [thread, id] = ids;
  const tell = (text) => {
    const data = text.replaceAll("THREAD", thread).replaceAll("TURN", id);
    sockets[0].dispatchEvent(Object.assign(new Event("message"), { data }));
  };
  for (const step of steps) {
    if (step === "task") await new Promise((resolve) => setImmediate(resolve));
    else if (step === "microtask") await null;
    else if (step === "native" && !isNative) unlisten = unlisten ? unlisten() : listen();
    else if (step !== "native") tell(step);
  }
  tell(end);
  await ended;
  const text = JSON.stringify([events, turn.snapshot().threads]);
  return text.replaceAll(id, "TURN").replaceAll(thread, "THREAD");
}

for (const protocol of Object.keys(WIRES)) {
  test(`${protocol}: the short way says what the long one says`, async (t) => {
    const { delta, others } = WIRES[protocol];
    for (let seed = 1; seed <= 60; seed += 1) {
      const draw = random(seed);
      const pick = (list) => list[Math.floor(draw() * list.length)];
      // Most runs have only usual messages, since one odd message would end the short path for all.
      const isUsual = seed % 3 > 0;
      const texts = isUsual ? TEXTS.slice(0, 13) : TEXTS;
      const step = () => {
        const kind = draw();
        if (kind < 0.1) return pick(["task", "microtask"]);
        if (kind < 0.12) return "native";
        if (kind < 0.2) return pick(others)(pick(texts));
        const item = isUsual && draw() < 0.9 ? "m0" : pick(["m0", "m1", "m2"]);
        return delta(pick(texts), { item, number: isUsual ? pick(NUMBERS.slice(0, 4)) : pick(NUMBERS), rest: isUsual ? "" : pick(RESTS) });
      };
      const steps = Array.from({ length: 120 }, step);
      const [short, long] = [await played(t, protocol, steps, false), await played(t, protocol, steps, true)];
      assert.equal(short, long, `seed ${seed}`);
    }
  });
}

test("turns of several threads whose messages alternate keep their own", async (t) => {
  const sockets = [];
  const results = ({ params = {} }) => WIRES["turn-rpc"].results({ params });
  const turns = [];
  const take = (socket, request) => {
    if (request.method === "turn/start") turns.push([request.params.thread_id, request.params.turn_id]);
    if (request.id !== undefined) socket.say({ id: request.id, result: results(request)[request.method] });
  };
  const client = await connect({ baseUrl: "http://rpc.test", protocol: "turn-rpc", webSocket: fakeSockets(sockets, take), reconnect: false });
  t.after(() => client.close());
  const running = [];
  for (let at = 0; at < 20; at += 1) {
    const turn = (await client.agents.createSession("Chat")).createTurn({ input: "Go" });
    running.push({ turn, ended: turn.waitForCompletion(), said: "" });
    while (turn.status !== "running") await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const draw = random(7);
  const tell = (at, text) => {
    const data = text.replaceAll("THREAD", turns[at][0]).replaceAll("TURN", turns[at][1]);
    sockets[0].dispatchEvent(Object.assign(new Event("message"), { data }));
  };
  for (let count = 0; count < 2000; count += 1) {
    const at = Math.floor(draw() * running.length);
    running[at].said += `${count} `;
    tell(at, WIRES["turn-rpc"].delta(`${count} `, { item: "m", number: count, rest: "" }));
    if (draw() < 0.1) await null;
  }
  for (const [at, { turn, ended, said }] of running.entries()) {
    tell(at, WIRES["turn-rpc"].end);
    await ended;
    assert.equal(turn.snapshot().threads[0].messages[0].content, said);
  }
});
