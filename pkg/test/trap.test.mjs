// A core that fails in itself: one error for the turn that met it, and nothing else is harmed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, textOf } from "./support/collect.mjs";
import { created, done, frames, message, text } from "./support/wire.mjs";

/** Whether the next call of a core traps, and how many cores were started. */
let isDue = false;
let started = 0;
const { Instance } = WebAssembly;
WebAssembly.Instance = function (...given) {
  started += 1;
  const exports = {};
  for (const [name, value] of Object.entries(new Instance(...given).exports)) {
    exports[name] = typeof value !== "function" ? value : (...parameters) => {
      if (!isDue) return value(...parameters);
      isDue = false;
      throw new WebAssembly.RuntimeError("unreachable");
    };
  }
  return { exports };
};

const { connect } = await import("../dist/index.js");

const HEAD = [created(), message(), text("Hel")];
const TAIL = [text("lo"), done()];

/** A server with one turn. In the stream with this number the core traps at the second chunk. */
function serverOf(trapped) {
  let streams = 0;
  return async (url, { method }) => {
    if (method !== "POST" || !url.endsWith("/turns")) {
      return Response.json({ data: { id: "s1", type: "session", agent_name: "a" } });
    }
    const isTrapped = (streams += 1) === trapped;
    const chunks = [frames(HEAD), frames(TAIL, HEAD.length + 1)].map((chunk) => new TextEncoder().encode(chunk));
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        isDue = isTrapped && chunks.length === 1;
        controller.enqueue(chunks.shift());
        if (chunks.length === 0) controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

const BASE = { baseUrl: "http://127.0.0.1:9/acme" };

test("a trap is one error of its turn; later turns and clients work", async () => {
  const client = await connect({ ...BASE, fetch: serverOf(1) });
  assert.equal(started, 1);
  const session = await client.agents.createSession("a");
  const turn = session.createTurn("Hello");
  const heard = [];
  turn.on("error", (error) => heard.push(error));
  const { error } = await collect(turn.stream());
  assert.equal(error.code, "internal");
  assert.match(error.message, /core failed.*unreachable/);
  assert.deepEqual(heard, [error]);
  assert.deepEqual([turn.snapshot().error, textOf(turn)], [error, "Hel"], "what came before is kept");

  // The client that met the trap.
  const later = (await client.agents.createSession("a")).createTurn("Hello");
  await later.waitForCompletion();
  assert.deepEqual([later.status, textOf(later), later.snapshot().error], ["done", "Hello", null]);

  // A new client has a new core, and the next one shares it.
  for (let round = 0; round < 2; round += 1) {
    const fresh = await connect({ ...BASE, fetch: serverOf() });
    assert.equal(started, 2);
    const whole = (await fresh.agents.createSession("a")).createTurn("Hello");
    await whole.waitForCompletion();
    assert.equal(textOf(whole), "Hello");
  }
});
