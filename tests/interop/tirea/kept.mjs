// The real tirea server behind turnwire-relay, which keeps its runs: what the server sends, and the package in headless Chromium,
// which goes on where a connection broke.
//
//     node kept.mjs [WORD]      runs the cases whose names contain the word
//
// `cargo xtask interop tirea` runs this, too, and names the relay by TURNWIRE_RELAY. The last line is `N passed, M failed`.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inWorld, runCases } from "../runner.mjs";
import { TireaCase } from "./case.mjs";
import { GREETING, joined } from "./cases/expect.mjs";
import { KEY, startKept } from "./world.mjs";

const SLOW = "SLOW 60 30";

/** A start as curl would send it, to this address; returns the answer's text. */
async function begin(url, input, thread = randomUUID()) {
  const body = { agentId: "assistant", threadId: thread, runId: randomUUID(), messages: [{ role: "user", content: input }] };
  const headers = { "content-type": "application/json", "turnwire-turn": body.runId };
  const answer = await fetch(`${url}/v1/runs`, { method: "POST", headers, body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await (answer.ok ? "" : answer.text()));
  return { thread, run: body.runId, text: await answer.text() };
}

/** The same bytes without the relay's numbers, which must count from 1. */
function unnumbered(text) {
  let count = 0;
  const rest = text.replaceAll(/^id: (\d+)\n/gm, (_, id) => {
    assert.equal(Number(id), (count += 1));
    return "";
  });
  assert.ok(count > 0, "there are numbers");
  return rest;
}

const cases = [
  ...["hello", "SLOW 20 10", "ERR500"].map((input) => [
    `bytes: ${input}: a client gets the server's bytes, except for the numbers`,
    async (t) => {
      const { thread, text } = await begin(t.url, input);
      assert.equal(unnumbered(text), t.starts(thread)[0].text);
    },
  ]),
  [
    "bytes: a reader that comes later gets the same once more",
    async (t) => {
      const { run, thread, text } = await begin(t.url, "hello");
      const again = await fetch(`${t.url}/_turnwire/v1/turns/${run}/events`);
      assert.equal(await again.text(), text);
      assert.equal(t.starts(thread).length, 1);
    },
  ],
  [
    "a turn through the relay is the turn",
    async (t) => {
      const report = await t.run(async () => kit.play(await kit.session(), "hello"));
      assert.deepEqual([report.error, report.status, report.text], [null, "done", GREETING]);
      assert.ok(report.agrees);
      assert.deepEqual(report.numbers, report.numbers.map((_, at) => at + 1));
      const [start, ...more] = t.starts(report.session);
      assert.deepEqual([start.headers.authorization, more], [KEY, []]);
      assert.equal(report.id, start.body.runId);
    },
  ],
  [
    "a reloaded page goes on, and the server sees no disconnect",
    async (t) => {
      const thread = await t.run(
        async (input) => {
          const turn = (await kit.session()).createTurn({ input });
          void kit.stream(turn);
          await kit.until(() => kit.eventsOf(turn).filter(({ type }) => type === "model.message.delta").length >= 5);
          return turn.session.id;
        },
        SLOW,
      );
      await t.page.reloadAll();
      const report = await t.run(async (id) => {
        const { last } = await (await kit.reopen(id)).resume();
        return kit.stream(last);
      }, thread);
      assert.deepEqual([report.error, report.status], [null, "done"]);
      assert.deepEqual(report.numbers, report.numbers.map((_, at) => at + 1));
      const starts = t.starts(thread);
      assert.deepEqual(starts.map(({ end }) => end), ["done"]);
      assert.equal(report.text, joined(t.frames(thread), "text_delta"));
    },
  ],
  [
    "a start whose answer is lost is cut, and not sent again",
    async (t) => {
      const thread = await t.run(async () => {
        const own = await kit.session();
        kit.turn = own.createTurn({ input: "SLOW 20 10" });
        return own.id;
      });
      t.lose(thread);
      const report = await t.run(() => kit.stream(kit.turn));
      assert.equal(t.starts(thread).length, 1);
      assert.deepEqual([report.error?.code, report.status], ["incomplete", "incomplete"]);
    },
  ],
  [
    "a server that breaks off cuts the turn, and the received part is kept",
    async (t) => {
      await t.run(
        async (input) => {
          kit.turn = (await kit.session()).createTurn({ input });
          kit.streamed = kit.stream(kit.turn);
          await kit.until(() => kit.eventsOf(kit.turn).filter(({ type }) => type === "model.message.delta").length >= 3);
        },
        SLOW,
      );
      const thread = await t.run(() => kit.turn.session.id);
      t.starts(thread)[0].cut();
      const report = await t.run(() => kit.streamed);
      assert.deepEqual([report.error?.code, report.status], ["incomplete", "incomplete"]);
      assert.ok(report.agrees && report.text.startsWith("tok00 tok01 "), report.text);
      assert.equal(t.starts(thread).length, 1);
    },
  ],
  [
    "another page stops the turn, and the server's run is cancelled",
    async (t) => {
      const thread = await t.run(
        async (input) => {
          kit.turn = (await kit.session()).createTurn({ input });
          kit.streamed = kit.stream(kit.turn);
          await kit.until(() => kit.eventsOf(kit.turn).filter(({ type }) => type === "model.message.delta").length >= 3);
          return kit.turn.session.id;
        },
        SLOW,
      );
      const other = await t.run(async (id) => {
        const { last } = await (await kit.reopen(id)).resume();
        await last.cancel();
        await last.waitForCompletion();
        return last.status;
      }, thread);
      const report = await t.run(() => kit.streamed);
      assert.deepEqual([report.error, report.status, other], [null, "cancelled", "cancelled"]);
      const { runs } = await t.stored(thread);
      assert.equal(runs[0].termination_code, "cancelled");
    },
  ],
];

await inWorld(startKept, (world) => runCases(world, (page) => new TireaCase(world, page), cases, [], process.argv[2]));
