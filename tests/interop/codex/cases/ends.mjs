// Turns that end before they are done.
import assert from "node:assert/strict";
import { expectAnswered, expectSound, GREETING, said } from "./expect.mjs";

export const ends = [
  [
    "cancel: a turn that streams stops, and the session goes on",
    async (t) => {
      const { report, next } = await t.run(async () => {
        const own = await kit.session();
        const report = await kit.streamUntil(own.createTurn({ input: "SAY tok 100 50" }), 3, (turn) => turn.cancel());
        return { report, next: await kit.play(own, "hello") };
      });
      expectSound(report);
      assert.equal(report.error, null);
      assert.equal(report.status, "cancelled");
      assert.ok(said("tok", 100).startsWith(report.text), report.text);
      assert.ok(report.text.length > 0 && report.text.length < 300);
      assert.equal(t.sent("turn/interrupt").length, 1);
      expectAnswered(next, GREETING);
    },
  ],
  [
    "cancel: a turn that waits for consent stops, and nothing is pending",
    async (t) => {
      const report = await t.run(async (input) => {
        const turn = (await kit.session()).createTurn({ input });
        const streamed = kit.stream(turn);
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        await turn.cancel();
        return streamed;
      }, `EXEC ${t.command}`);
      expectSound(report);
      assert.equal(report.status, "cancelled");
      assert.deepEqual(report.snapshot.required_actions, []);
      assert.equal(t.runs, 0);
      assert.equal(t.answers().length, 0);
    },
  ],
  [
    "cancel: a command that runs is stopped",
    async (t) => {
      const report = await t.run(async (input) => {
        const turn = (await kit.session()).createTurn({ input });
        const streamed = kit.stream(turn);
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        await turn.answer(kit.answers(turn));
        await new Promise((resolve) => setTimeout(resolve, 500));
        await turn.cancel();
        return streamed;
      }, `EXEC sleep 20; ${t.command}`);
      expectSound(report);
      assert.equal(report.status, "cancelled");
      assert.equal(t.runs, 0);
      assert.notEqual(report.calls[0].status, "running");
    },
  ],
  ...[
    ["ERR500", /high demand|500|exploded/],
    ["ERR401", /401|invalid api key/i],
    ["FAILED", /mock model broke/],
    ["CUT", /disconnected/],
  ].map(([input, message]) => [
    `error: the model's provider, ${input}`,
    async (t) => {
      const { report, next } = await t.run(async (input) => {
        const own = await kit.session();
        return { report: await kit.play(own, input), next: await kit.play(own, "hello") };
      }, input);
      expectSound(report);
      assert.equal(report.error, null, "the turn has failed, and not the stream");
      assert.equal(report.status, "error");
      assert.match(report.snapshot.state.message, message);
      if (input === "FAILED") assert.equal(report.text, "partial ");
      expectAnswered(next, GREETING);
    },
  ]),
];
