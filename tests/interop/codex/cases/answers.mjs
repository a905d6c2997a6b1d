// Turns that the agent answers.
import { COMES_AS_SPOKEN } from "../../spoken.mjs";
import assert from "node:assert/strict";
import { expectAnswered, GREETING, said } from "./expect.mjs";

/** Plays one turn in a new session. */
const play = (t, input) => t.run(async (input) => kit.play(await kit.session(), input), input);

export const answers = [
  [
    "text: the received text is the model's",
    async (t) => {
      const report = await play(t, "hello");
      expectAnswered(report, GREETING);
      assert.equal(report.text, GREETING);
      assert.deepEqual([report.types[0], report.types.at(-1)], ["turn.created", "turn.done"]);
      assert.deepEqual(report.snapshot.input.map(({ type, content }) => [type, content]), [["user.message", "hello"]]);
      const { metrics } = report.snapshot.state;
      assert.deepEqual([metrics.total_input_tokens, metrics.total_output_tokens], [42, 17]);
      assert.equal(t.sent("turn/start").length, 1);
      assert.equal(report.id, t.heard("turn/completed")[0].params.turn.id);
    },
  ],
  COMES_AS_SPOKEN,
  [
    "text: two thousand words at full speed",
    async (t) => {
      const report = await play(t, "SAY word 2000 0");
      expectAnswered(report, said("word", 2000));
    },
  ],
  [
    "text: waiting only for the end has the same result",
    async (t) => {
      const { state, report } = await t.run(async () => {
        const turn = (await kit.session()).createTurn({ input: "SAY tok 5 10" });
        return { state: await turn.waitForCompletion(), report: kit.report(turn) };
      });
      assert.equal(state.status, "done");
      assert.equal(state.output.content, said("tok", 5));
      assert.equal(report.text, state.output.content);
      assert.equal(t.sent("turn/start").length, 1);
    },
  ],
  [
    "text: turns follow each other on one connection",
    async (t) => {
      const reports = await t.run(async () => {
        const own = await kit.session();
        const reports = [];
        for (const input of ["hello", "SAY again 3 1"]) reports.push(await kit.play(own, input));
        return reports;
      });
      expectAnswered(reports[0], GREETING);
      expectAnswered(reports[1], said("again", 3));
      assert.equal(t.sockets.length, 1);
      assert.notEqual(reports[0].id, reports[1].id);
    },
  ],
  [
    "reasoning: its summary, separate from the answer",
    async (t) => {
      const report = await play(t, "REASONING");
      expectAnswered(report, GREETING);
      const reasoning = report.messages.map((message) => message.reasoning_content ?? "").join("");
      assert.equal(reasoning.replace(/\s+/g, " "), "Let me think. The user greets, so I greet. ☃");
      assert.equal(report.text, GREETING);
    },
  ],
  [
    "many: eight turns at once on one connection, none with another one's text",
    async (t) => {
      const words = ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"];
      const reports = await t.run(async (words) => {
        const client = await kit.client();
        const one = async (word) => kit.play(await client.agents.createSession("codex"), `SAY ${word} 30 10`);
        return Promise.all(words.map(one));
      }, words);
      for (const [at, word] of words.entries()) expectAnswered(reports[at], said(word, 30));
      assert.equal(t.sockets.length, 1);
    },
  ],
];
