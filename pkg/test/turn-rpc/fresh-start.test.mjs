// Codex: a start in a thread that was only fetched, when it is unknown whether it arrived.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, IncompleteError } from "../../dist/index.js";
import { collect } from "../support/collect.mjs";
import { serveRpc, SILENCE } from "../support/turn-rpc.mjs";

/** A thread in which "yes" was said this many seconds ago. `start` is the result of a new turn. */
async function serve(t, seconds, start, handlers = {}) {
  const turns = [];
  const add = (text, ago = 0) => {
    const id = `u${turns.length}`;
    const items = [{ type: "userMessage", id: `${id}:said`, content: [{ type: "text", text }] }, { type: "agentMessage", id: `${id}:answer`, text: `I am ${id}` }];
    turns.push({ id, status: "completed", items, error: null, startedAt: Math.floor(Date.now() / 1000) - ago });
  };
  add("Which one?", seconds + 20);
  add("yes", seconds);
  const { server, client } = await serveRpc(t, {
    initialize: () => ({ userAgent: "test" }),
    "thread/read": () => ({ thread: { id: "t", preview: "Which one?", turns } }),
    "thread/resume": () => ({ thread: { id: "t", status: { type: "idle" } } }),
    "thread/turns/list": ({ params }) => ({ data: turns.toReversed().slice(0, params.limit), nextCursor: "more" }),
    "turn/start": ({ peer }) => {
      start(add);
      peer.drop();
      return SILENCE;
    },
    ...handlers,
  }, { protocol: "codex" });
  const turn = (await client.agents.getSession("t")).createTurn({ input: "yes" });
  const { error } = await collect(turn.stream());
  const asked = server.requests.filter(({ method }) => method === "thread/turns/list").map(({ params }) => params);
  return { server, turn, error, asked };
}

for (const seconds of [0, 5]) {
  test(`the same was said ${seconds} s ago: the turn is distinguished from that one`, async (t) => {
    const { turn, error, asked, server } = await serve(t, seconds, (add) => add("yes"));
    assert.equal(error, undefined);
    assert.deepEqual([turn.id, turn.status, server.count("turn/start")], ["u2", "done", 1]);
    assert.deepEqual(asked[0], { threadId: "t", limit: 1, sortDirection: "desc" });
  });

  test(`the same was said ${seconds} s ago: a start that did not arrive takes no turn`, async (t) => {
    const { turn, error, server } = await serve(t, seconds, () => {});
    assert.ok(error instanceof ConnectionError, String(error));
    assert.deepEqual([turn.id, turn.status, server.count("turn/start")], [null, "unstarted", 1]);
  });
}

test("another client says the same: neither turn is taken", async (t) => {
  const { turn, error } = await serve(t, 5, (add) => (add("yes"), add("yes")));
  assert.ok(error instanceof IncompleteError, String(error));
  assert.deepEqual([turn.id, turn.status], [null, "incomplete"]);
});

test("where the newest turn cannot be read none is taken", async (t) => {
  let count = 0;
  const { turn, error } = await serve(t, 5, (add) => add("yes"), { "thread/turns/list": () => ((count += 1) === 1 ? { nonsense: true } : { data: [] }) });
  assert.ok(error instanceof IncompleteError, String(error));
  assert.deepEqual([turn.id, turn.status], [null, "incomplete"]);
});
