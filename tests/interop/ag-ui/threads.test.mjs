// The package against real servers that return a thread: Agent Framework with a store and detached runs, and ADK. A run whose
// connection breaks is read from its thread.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { allow, connect } from "../../../pkg/dist/index.js";
import { startServer } from "./servers.mjs";

const SERVERS = {
  "agent-framework": { path: "/detached", recovery: "snapshot", again: "/detached" },
  adk: { path: "/agent", recovery: "state", again: "/agents/state" },
};

const textOf = (turn) => turn.snapshot().threads[0].messages.map(({ content }) => content).join("");
const roleOf = ({ role }) => role;

/** A response whose connection breaks after this many frames. */
function broken(response, frames) {
  let seen = 0;
  const decoder = new TextDecoder();
  const cut = new TransformStream({
    transform(chunk, control) {
      for (const piece of decoder.decode(chunk, { stream: true }).split(/(?<=\n\n)/)) {
        if (seen >= frames) return control.error(new Error("cut"));
        control.enqueue(new TextEncoder().encode(piece));
        if (piece.endsWith("\n\n")) seen += 1;
      }
    },
  });
  return new Response(response.body.pipeThrough(cut), { status: response.status, headers: response.headers });
}

for (const [name, { path, recovery, again }] of Object.entries(SERVERS)) {
  describe(name, () => {
    const ends = [];
    let url;
    before(async () => {
      url = await startServer(name, (end) => ends.push(end));
    });
    after(async () => {
      for (const end of ends) await end();
    });

    /** A session whose first response breaks after this many frames, and the requested addresses. */
    async function open(frames, { store = null, id } = {}) {
      const asked = [];
      const cutting = async (address, init) => {
        asked.push(new URL(address).pathname);
        const response = await fetch(address, init);
        return asked.length === 1 && frames !== undefined ? broken(response, frames) : response;
      };
      const client = await connect({ baseUrl: url + path, protocol: "ag-ui", store, fetch: cutting, reconnect: { baseDelay: 20 } });
      const session = await (id ? client.agents.getSession(id, { recovery }) : client.agents.createSession("lab", { recovery }));
      return { session, asked };
    }

    /** The events of a turn. */
    async function play(word, frames) {
      const { session, asked } = await open(frames);
      session.tools({ pick_color: { description: "Lets the user pick.", parameters: { type: "object", properties: { title: { type: "string" } } }, run: () => "red" } });
      const turn = session.createTurn(word);
      const events = [];
      for await (const event of turn.stream()) events.push(event);
      const pieces = events.filter(({ type }) => type === "model.message.delta");
      const told = pieces.map(({ content, tool_calls }) => content ?? tool_calls?.[0].function?.arguments ?? "").join("");
      const { required_actions } = turn.snapshot();
      const messages = JSON.parse(session.messages()).messages.map(roleOf);
      const responses = events.filter(({ type }) => type === "tool.response").length;
      return { asked, outcome: { status: turn.status, text: textOf(turn), told, responses, actions: required_actions.map((action) => [action.type, action.name]) }, messages };
    }

    for (const word of ["hello", "tool", "client"]) {
      test(`${word}: cut after any frame, nothing is repeated or lost`, async () => {
        const uncut = await play(word);
        assert.equal(uncut.outcome.status, "done");
        for (const frames of [1, 2, 4]) {
          const cut = await play(word, frames);
          assert.deepEqual(cut.outcome, uncut.outcome, `after ${frames}`);
          assert.deepEqual([cut.asked[0], ...new Set(cut.asked.slice(1))], [path, again], `after ${frames}`);
          assert.equal(cut.messages.filter((role) => role === "user").length, 1);
        }
      });
    }

    test("the client waits for a run that still goes on", async () => {
      const { outcome } = await play("slow", 5);
      const whole = Array.from({ length: 20 }, (_, number) => `${number} `).join("");
      assert.deepEqual([outcome.text.trim(), outcome.told.trim(), outcome.status], [whole.trim(), whole.trim(), "done"]);
    });

    test("a page that reloads in the middle of a run reads it to its end, and goes on", async () => {
      const kept = new Map();
      const store = { get: (key) => kept.get(key) ?? null, set: (key, text) => void kept.set(key, text), remove: (key) => void kept.delete(key) };
      const before = await open(undefined, { store });
      const left = before.session.createTurn("slow");
      const over = left.waitForCompletion().catch((error) => error);
      while (textOf(left).length < 4) await new Promise((resolve) => setTimeout(resolve, 20));
      left[Symbol.dispose]();
      await over;
      const { session } = await open(undefined, { store, id: before.session.id });
      const turns = await session.resume();
      await turns.last.waitForCompletion();
      assert.equal(turns.last.status, "done");
      assert.match(textOf(turns.last), /^0 1 2 .*19/);
      const next = session.createTurn("count");
      await next.waitForCompletion();
      assert.match(textOf(next), /I see [23] user messages/);
    });

    if (recovery === "snapshot") {
      test("the run's question is reported, and answered", async () => {
        const { session } = await open(2);
        const turn = session.createTurn("approve");
        await turn.waitForCompletion();
        const [action] = turn.snapshot().required_actions;
        assert.equal(action?.type, "tool.approval_required");
        const next = session.createTurn([allow(action)]);
        await next.waitForCompletion();
        assert.match(JSON.stringify(next.snapshot().threads), /deleted a\.txt/);
      });
    }
  });
}
