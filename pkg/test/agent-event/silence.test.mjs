// How long a server may be silent, by a mocked clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { begin, complete, finish, frames, QUICK, runRecord, say, step } from "../support/agent-event.mjs";
import { collect, textOf } from "../support/collect.mjs";
import { tellings, topics } from "../support/connection.mjs";

/** Runs everything that needs no time. */
async function settle() {
  for (let round = 0; round < 30; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A turn that has begun to speak, while time stands still until `pass` is called. */
async function speaking(t, protocol, options = {}) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.now() });
  const asked = [];
  let controller;
  const body = new ReadableStream({ start: (made) => void (controller = made) });
  const fetch = async (url, { method }) => {
    asked.push(`${method} ${new URL(url).pathname.replace(/runs\/.+/, "runs/*")}`);
    if (method === "POST") return new Response(body, { headers: { "content-type": "text/event-stream" } });
    return Response.json(runRecord({ run_id: url.split("/").at(-1), status: "running" }));
  };
  const client = await connect({ baseUrl: "http://server", protocol, fetch, reconnect: QUICK, ...options });
  const session = await client.agents.createSession("assistant");
  const turn = session.createTurn({ input: "Hello" });
  const told = tellings(turn);
  const reading = collect(turn.stream());
  const write = async (list) => {
    controller.enqueue(new TextEncoder().encode(typeof list === "string" ? list : frames(protocol, list)));
    await settle();
  };
  await settle();
  await write([begin(), step(), say("par")]);
  const pass = async (time) => {
    t.mock.timers.tick(time);
    await settle();
  };
  return { turn, asked, told, reading, write, pass };
}

const POST = "POST /v1/runs";

test("tirea: minutes of silence do not end the stream", async (t) => {
  const { turn, asked, told, write, pass, reading } = await speaking(t, "tirea");
  for (let minute = 0; minute < 4; minute += 1) await pass(74_000);
  assert.deepEqual([turn.status, told, asked], ["running", [], [POST]]);
  await write([say("tial"), complete(), finish()]);
  assert.equal((await reading).error, undefined);
  assert.equal(textOf(turn), "partial");
});

test("tirea: five minutes of silence end the stream; the run's record is read, and nothing is posted again", async (t) => {
  const { turn, asked, told, pass, reading } = await speaking(t, "tirea");
  await pass(299_999);
  assert.deepEqual(told, []);
  await pass(1);
  assert.deepEqual(told[0], ["idle", { silence: 300_000 }]);
  for (let wait = 0; wait < 10; wait += 1) await pass(1000);
  const { error } = await reading;
  assert.deepEqual([error.code, turn.status, textOf(turn)], ["incomplete", "incomplete", "par"]);
  assert.deepEqual(asked, [POST, ...Array(3).fill("GET /v1/runs/*")]);
});

test("tirea: idleTimeout: 0 waits without a limit", async (t) => {
  const { turn, told, pass, write, reading } = await speaking(t, "tirea", { idleTimeout: 0 });
  await pass(100_000_000);
  assert.deepEqual([turn.status, told], ["running", []]);
  await write([complete(), finish()]);
  assert.equal((await reading).error, undefined);
});

test("awaken: heartbeats keep the stream alive, and a minute without one ends it", async (t) => {
  const { turn, told, pass, write } = await speaking(t, "awaken");
  for (let beat = 0; beat < 12; beat += 1) {
    await pass(15_000);
    await write(": heartbeat\n\n");
  }
  assert.deepEqual([turn.status, told], ["running", []]);
  await pass(59_999);
  assert.deepEqual(topics(told), []);
  await pass(1);
  assert.equal(topics(told)[0], "idle");
});
