// Commands that wait for consent, which is given while the turn runs.
import assert from "node:assert/strict";
import { expectAnswered, expectSound } from "./expect.mjs";

/** Plays a turn that calls the shell, and answers the first thing that waits; `how` names an answer of `HOW`. */
const ask = (t, how, word = "EXEC") =>
  t.run(
    async ({ input, how }) => {
      const answers = {
        grant: (action) => kit.allow(action),
        decline: (action) => kit.deny(action, "not on a Sunday"),
        cancel: (action) => ({ ...kit.deny(action), approval: { status: "deny", cancel: true } }),
      };
      const turn = (await kit.session()).createTurn({ input });
      const streamed = kit.stream(turn);
      await kit.until(() => turn.snapshot().required_actions.length > 0);
      const asked = kit.report(turn);
      const same = (await turn.answer(kit.answers(turn, answers[how]))) === turn;
      return { asked, same, report: await streamed };
    },
    { input: `${word} ${t.command}`, how },
  );

/** The assertions as soon as a turn waits. */
function expectAsked(t, { asked, same, report }) {
  assert.equal(asked.status, "running");
  assert.deepEqual(asked.snapshot.required_actions.map(({ type }) => type), ["tool.approval_required"]);
  const [action] = asked.snapshot.required_actions;
  const [request] = t.heard("item/commandExecution/requestApproval");
  assert.equal(action.tool_call_id, request.params.itemId);
  assert.match(action.arguments, new RegExp(t.id));
  assert.deepEqual(asked.calls.map(({ id, status }) => [id, status]), [[action.tool_call_id, "approval_required"]]);
  assert.ok(same, "it takes effect in the same turn");
  assert.deepEqual(report.snapshot.required_actions, [], "what was answered waits no longer");
  assert.equal(t.answers().length, 1);
  assert.equal(t.answers()[0].id, request.id);
}

export const approvals = [
  [
    "approval: live answers are a declared capability",
    async (t) => {
      const capabilities = await t.run(async () => kit.plain((await kit.session()).capabilities));
      const expected = { resume: "cursor", cancel: true, interrupt: false, history: true, liveAnswers: true, rename: true, delete: true };
      for (const [name, value] of Object.entries(expected)) assert.equal(capabilities[name], value, name);
    },
  ],
  [
    "approval: a command waits, is granted, and runs once",
    async (t) => {
      const played = await ask(t, "grant");
      expectAsked(t, played);
      const { report } = played;
      expectSound(report);
      assert.equal(report.status, "done");
      assert.equal(t.runs, 1);
      const [call] = report.calls;
      assert.equal(call.status, "done");
      assert.match(call.response.content, /did-run/);
      assert.equal(report.events.find(({ type }) => type === "tool.response").outcome, "succeeded");
      assert.match(report.text, /Tool said: [^]*did-run/);
      assert.deepEqual(t.answers()[0].result, { decision: "accept" });
    },
  ],
  [
    "approval: text before the command, in its order",
    async (t) => {
      const { report } = await ask(t, "grant", "MIXED");
      expectSound(report);
      assert.equal(report.messages[0].content, "Let me look. ");
      assert.equal(report.calls.length, 1);
      assert.match(report.messages.at(-1).content, /^Tool said: /);
    },
  ],
  [
    "approval: a command is declined, and the turn goes on",
    async (t) => {
      const played = await ask(t, "decline");
      expectAsked(t, played);
      const { report } = played;
      assert.equal(t.runs, 0);
      assert.deepEqual(t.answers()[0].result, { decision: "decline" });
      expectAnswered(report, report.messages.at(-1).content);
      assert.match(report.text, /^Tool said: .*reject/);
      assert.equal(report.calls.length, 1);
      assert.equal(report.events.find(({ type }) => type === "tool.response").outcome, "failed");
    },
  ],
  [
    "approval: with a command that is cancelled the turn ends",
    async (t) => {
      const played = await ask(t, "cancel");
      expectAsked(t, played);
      const { report } = played;
      assert.equal(t.runs, 0);
      assert.deepEqual(t.answers()[0].result, { decision: "cancel" });
      expectSound(report);
      assert.equal(report.error, null);
      assert.equal(report.status, "cancelled");
      assert.deepEqual(report.snapshot.required_actions, []);
    },
  ],
  [
    "approval: an answered call is not answered again",
    async (t) => {
      const { error, report } = await t.run(async (input) => {
        const turn = (await kit.session()).createTurn({ input });
        const streamed = kit.stream(turn);
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        const answers = kit.answers(turn);
        const first = turn.answer(answers);
        const error = await kit.thrown(() => turn.answer(answers));
        await first;
        return { error, report: await streamed };
      }, `EXEC ${t.command}`);
      assert.equal(error?.name, "InputError");
      assert.equal(report.status, "done");
      assert.equal(t.answers().length, 1);
      assert.equal(t.runs, 1);
    },
  ],
];
