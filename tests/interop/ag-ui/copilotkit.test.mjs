// The package against CopilotKit's runtime: a run goes on after a broken connection, and is stopped.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect } from "../../../pkg/dist/index.js";
import { freePort, pause, run } from "../parts.mjs";

const QUIET = { COPILOTKIT_TELEMETRY_DISABLED: "true", DO_NOT_TRACK: "1" };

const textOf = (turn) => turn.snapshot().threads[0].messages.map(({ content }) => content).join("");

let server;
let url;
before(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = run(process.execPath, [join(import.meta.dirname, "copilotkit", "server.mjs")], { env: { ...process.env, ...QUIET, PORT: String(port) } });
  const isUp = () => fetch(`${url}/info`).then(({ ok }) => ok, () => false);
  for (const until = Date.now() + 90_000; !(await isUp()); await pause(200)) {
    if (Date.now() > until) throw new Error(`CopilotKit did not start:\n${server.errors.slice(-20).join("\n")}`);
  }
});
after(() => server?.stop());

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

/** A session whose next responses break after this many frames each, and its requests. */
async function open(cuts = []) {
  const asked = [];
  const cutting = async (address, init) => {
    asked.push(new URL(address).pathname.split("/")[3]);
    const response = await fetch(address, init);
    const frames = cuts.shift();
    return frames === undefined ? response : broken(response, frames);
  };
  const client = await connect({ baseUrl: `${url}/agent/lab/run`, protocol: "ag-ui", store: null, fetch: cutting, reconnect: { baseDelay: 20 } });
  return { session: await client.agents.createSession("lab", { recovery: "connect" }), asked };
}

/** The events of a turn. */
async function play(word, cuts) {
  const { session, asked } = await open(cuts);
  const turn = session.createTurn(word);
  const events = [];
  for await (const event of turn.stream()) events.push(event);
  const pieces = events.filter(({ type }) => type === "model.message.delta");
  const told = pieces.map(({ content, reasoning_content, tool_calls }) => content ?? reasoning_content ?? tool_calls?.[0].function?.arguments ?? "").join("");
  const whole = events.map(({ type }) => type).filter((type) => !/delta|^state/.test(type));
  return { asked, outcome: { status: turn.status, text: textOf(turn), told, whole, state: turn.snapshot().agent_state } };
}

for (const word of ["text", "chunks"]) {
  test(`${word}: cut after any frame, nothing is repeated or lost`, async () => {
    const uncut = await play(word);
    assert.equal(uncut.outcome.status, "done");
    for (let frames = 1; frames < 9; frames += 1) {
      const cut = await play(word, [frames]);
      assert.deepEqual(cut.outcome, uncut.outcome, `after ${frames}`);
      assert.deepEqual(cut.asked, ["run", "connect"], `after ${frames}`);
    }
  });
}

test("a run that still goes on is read on after each break", async () => {
  const { asked, outcome } = await play("slow", [7, 11, 17]);
  const whole = Array.from({ length: 20 }, (_, number) => `${number} `).join("");
  assert.deepEqual([outcome.text, outcome.told, outcome.state], [whole, whole, { n: 2 }]);
  assert.deepEqual(asked, ["run", "connect", "connect", "connect"]);
});

test("a turn that is cancelled is stopped, and the next one begins after that", async () => {
  const { session, asked } = await open();
  const turn = session.createTurn("slow");
  const over = turn.waitForCompletion();
  while (textOf(turn).length < 4) await pause(20);
  await turn.cancel();
  await over;
  const next = session.createTurn("text");
  await next.waitForCompletion();
  assert.deepEqual([turn.status, next.status, textOf(next)], ["cancelled", "done", "0 1 2 3 "]);
  assert.deepEqual(asked, ["run", "stop", "connect", "run"]);
});
