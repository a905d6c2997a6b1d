// Changes of files, which wait for consent as commands do.
import assert from "node:assert/strict";
import { expectAnswered } from "./expect.mjs";

/** Plays a turn in which the agent adds a file, and answers it by `allow` or `deny` of the kit. */
const patch = (t, how) =>
  t.run(
    async ({ input, how }) => {
      const turn = (await kit.session()).createTurn({ input });
      const streamed = kit.stream(turn);
      await kit.until(() => turn.snapshot().required_actions.length > 0);
      const asked = kit.report(turn);
      await turn.answer(kit.answers(turn, kit[how]));
      return { asked, report: await streamed };
    },
    { input: `PATCH ${t.id}.txt one two`, how },
  );

/** The assertions as soon as it waits: the change can be shown. */
function expectAsked(t, { asked, report }) {
  const [request] = t.heard("item/fileChange/requestApproval");
  const [action] = asked.snapshot.required_actions;
  assert.deepEqual([action.type, action.tool_call_id], ["tool.approval_required", request.params.itemId]);
  const [call] = asked.calls;
  assert.deepEqual([call.id, call.name, call.status], [action.tool_call_id, "fileChange", "approval_required"]);
  const [change] = JSON.parse(call.arguments).changes;
  assert.ok(change.path.endsWith(`${t.id}.txt`), change.path);
  assert.deepEqual([change.kind, change.diff], [{ type: "add" }, "one\ntwo\n"]);
  assert.equal(report.calls.length, 1);
}

export const files = [
  [
    "file: a change waits, is granted, and is made",
    async (t) => {
      const played = await patch(t, "allow");
      expectAsked(t, played);
      const { report } = played;
      assert.deepEqual(t.answers().map(({ result }) => result), [{ decision: "accept" }]);
      assert.equal(t.written(`${t.id}.txt`), "one\ntwo\n");
      const [response] = report.events.filter(({ type }) => type === "tool.response");
      assert.equal(response.outcome, "succeeded");
      assert.match(response.content, new RegExp(`^add .*${t.id}\\.txt$`));
      assert.equal(response.result.data.status, "completed");
      assert.equal(report.calls[0].status, "done");
      expectAnswered(report, report.messages.at(-1).content);
      assert.match(report.text, /^Tool said: [^]*Success/);
    },
  ],
  [
    "file: a change is declined, and not made",
    async (t) => {
      const played = await patch(t, "deny");
      expectAsked(t, played);
      const { report } = played;
      assert.deepEqual(t.answers().map(({ result }) => result), [{ decision: "decline" }]);
      assert.equal(t.written(`${t.id}.txt`), null);
      const [response] = report.events.filter(({ type }) => type === "tool.response");
      assert.deepEqual([response.outcome, response.content], ["failed", "declined"]);
      expectAnswered(report, report.messages.at(-1).content);
      assert.match(report.text, /^Tool said: .*reject/);
    },
  ],
];
