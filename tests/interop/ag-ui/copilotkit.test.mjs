// The package against CopilotKit's runtime: a run goes on after a broken connection, and is stopped.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { allow, connect } from "../../../pkg/dist/index.js";
import { pause } from "../parts.mjs";
import { startServer } from "./servers.mjs";

const textOf = (turn) => turn.snapshot().threads[0].messages.map(({ content }) => content).join("");

const ends = [];
let url;
before(async () => {
  url = await startServer("copilotkit", (end) => ends.push(end));
});
after(async () => {
  for (const end of ends) await end();
});

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

/** A session whose next responses break after so many frames each, and what it asked for. */
async function open(cuts = [], agent = "lab") {
  const asked = [];
  const cutting = async (address, init) => {
    asked.push(new URL(address).pathname.split("/")[3]);
    const response = await fetch(address, init);
    const frames = cuts.shift();
    return frames === undefined ? response : broken(response, frames);
  };
  const client = await connect({ baseUrl: `${url}/agent/${agent}/run`, protocol: "ag-ui", store: null, fetch: cutting, reconnect: { baseDelay: 20 } });
  return { session: await client.agents.createSession(agent, { recovery: "connect" }), asked };
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

test("a call of the page's tool, cut after any frame, is answered once", async () => {
  const parameters = { type: "object", properties: { title: { type: "string" } } };
  for (let frames = 1; frames < 9; frames += 1) {
    const { session, asked } = await open([frames], "chat");
    const titles = [];
    session.tools({ pick_color: { description: "Lets the user pick.", parameters, run: ({ title }) => `red ${titles.push(title)}` } });
    const played = session.run("client");
    await played.waitForCompletion();
    assert.deepEqual([titles, asked], [["Wall"], ["run", "connect", "run"]], `after ${frames}`);
    assert.deepEqual(played.turns.map(textOf), ["Please pick. ", 'Done. I got: "red 1"'], `after ${frames}`);
  }
});

test("an approval whose run is cut after any frame is given once", async () => {
  for (let frames = 1; frames < 6; frames += 1) {
    const { session, asked } = await open([undefined, frames], "chat");
    const asking = session.createTurn("approve");
    await asking.waitForCompletion();
    const answer = session.createTurn(asking.snapshot().required_actions.map((action) => allow(action)));
    await answer.waitForCompletion();
    assert.deepEqual([answer.status, textOf(answer)], ["done", 'Done. I got: {"approved":true}'], `after ${frames}`);
    assert.deepEqual(asked, ["run", "run", "connect"], `after ${frames}`);
  }
});

test("a run that still goes on is read on, again and again", async () => {
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
