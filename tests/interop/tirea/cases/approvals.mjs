// Calls that wait for consent.
import assert from "node:assert/strict";
import { expectAnswered, expectSound, GREETING, last, storedBy } from "./expect.mjs";

/** The calls that wait according to the server. */
const waiting = (thread) =>
  Object.values(thread.state?.__tool_call_scope ?? {}).flatMap(({ suspended_call }) => (suspended_call ? [suspended_call.call_id] : []));

/** A turn that ended because its calls wait. */
async function expectWaiting(t, report, names) {
  assert.equal(report.error, null);
  assert.equal(report.status, "done");
  assert.deepEqual(report.snapshot.state.termination, { type: "suspended" });
  const actions = report.snapshot.required_actions;
  assert.deepEqual(actions.map(({ type, name }) => [type, name]), names.map((name) => ["tool.approval_required", name]));
  assert.ok(report.agrees);
  assert.deepEqual(report.calls.map(({ name, status }) => [name, status]), names.map((name) => [name, "approval_required"]));
  const { thread, runs } = await t.stored(report.session);
  assert.deepEqual(waiting(thread).sort(), actions.map(({ tool_call_id }) => tool_call_id).sort());
  assert.equal(runs.at(-1).status, "waiting");
}

export const approvals = [
  [
    "approval: a call waits, is allowed, and runs",
    async (t) => {
      const { asked, answered, input } = await t.run(async () => {
        const own = await kit.session("approver");
        const turn = own.createTurn({ input: "TOOL please" });
        const asked = await kit.stream(turn);
        const input = kit.answers(turn);
        return { asked, input, answered: await kit.play(own, input) };
      });
      const [action] = asked.snapshot.required_actions;
      assert.equal(action.arguments, "{}");
      assert.equal(asked.calls.length, 1, "the question is no call of its own");
      expectAnswered(t, answered, { at: 1 });
      const { body } = t.starts(asked.session)[1];
      assert.deepEqual(body.messages ?? [], []);
      assert.equal(body.parentRunId, asked.id);
      assert.deepEqual(body.decisions.map(({ target_id, action, result }) => [target_id, action, result]), [[action.tool_call_id, "resume", { approved: true }]]);
      assert.equal(input.length, 1);
      const { thread, messages, runs } = await t.stored(asked.session);
      assert.deepEqual(waiting(thread), []);
      assert.deepEqual(runs.map(({ run_id, status }) => [run_id, status]), [[asked.id, "waiting"], [answered.id, "done"]]);
      const [stored] = storedBy(messages, "tool");
      assert.equal(stored.tool_call_id, action.tool_call_id);
      const [response] = answered.snapshot.threads[0].tool_responses;
      assert.deepEqual([response.tool_call_id, response.content], [action.tool_call_id, stored.content]);
      assert.match(answered.text, /tirea-agentos/);
      assert.equal(answered.text, messages.at(-1).content);
      assert.ok(answered.types.includes("tool.resumed"));
    },
  ],
  [
    "approval: while a call waits, the server and the page agree on it",
    async (t) => {
      const report = await t.run(async () => kit.play(await kit.session("approver"), "TOOL please"));
      await expectWaiting(t, report, ["serverInfo"]);
      expectSound(t, report);
    },
  ],
  [
    "approval: a call is denied, and the agent reads why",
    async (t) => {
      const { asked, answered } = await t.run(async () => {
        const own = await kit.session("approver");
        const turn = own.createTurn({ input: "TOOL please" });
        const asked = await kit.stream(turn);
        return { asked, answered: await kit.play(own, kit.answers(turn, kit.deny, "not on a Sunday")) };
      });
      expectAnswered(t, answered, { at: 1 });
      const [decision] = t.starts(asked.session)[1].body.decisions;
      assert.deepEqual([decision.action, decision.reason], ["cancel", "not on a Sunday"]);
      const done = answered.events.find(({ type }) => type === "tool.response");
      assert.deepEqual([done.outcome, done.result.message], ["failed", "not on a Sunday"]);
      assert.match(answered.text, /not on a Sunday/);
      const { thread, messages } = await t.stored(asked.session);
      assert.deepEqual(waiting(thread), []);
      assert.match(storedBy(messages, "tool")[0].content, /not on a Sunday/);
    },
  ],
  [
    "approval: two calls wait, one is allowed and one denied",
    async (t) => {
      const { asked, refused, answered } = await t.run(async () => {
        const own = await kit.session("approver");
        const turn = own.createTurn({ input: "TWO please" });
        const asked = await kit.stream(turn);
        const [first, second] = turn.snapshot().required_actions;
        const refused = await kit.thrown(() => own.createTurn({ input: [kit.allow(first)] }));
        return { asked, refused, answered: await kit.play(own, [kit.deny(second, "never"), kit.allow(first)]) };
      });
      assert.equal(refused?.code, "invalid_input", "every call must be answered");
      expectAnswered(t, answered, { at: 1 });
      const outcomes = answered.events.filter(({ type }) => type === "tool.response").map(({ tool_call_id, outcome }) => [tool_call_id, outcome]);
      const [first, second] = asked.snapshot.required_actions.map(({ tool_call_id }) => tool_call_id);
      assert.deepEqual(new Map(outcomes), new Map([[first, "succeeded"], [second, "failed"]]));
    },
  ],
  [
    "approval: a tool that is always allowed does not ask again",
    async (t) => {
      const reports = await t.run(async () => {
        const own = await kit.session("approver");
        const turn = own.createTurn({ input: "TOOL please" });
        const asked = await kit.stream(turn);
        const answered = await kit.play(own, kit.answers(turn, kit.allow, { remember: true }));
        return [asked, answered, await kit.play(own, "TOOL again")];
      });
      expectAnswered(t, reports[2], { at: 2 });
      assert.equal(reports[2].calls[0].status, "done");
    },
  ],
  [
    "approval: text is refused while a call waits, unless the pending calls are discarded",
    async (t) => {
      const { asked, refused, sent } = await t.run(async () => {
        const own = await kit.session("approver");
        const turn = own.createTurn({ input: "TOOL please" });
        const asked = await kit.stream(turn);
        const refused = await kit.thrown(() => own.createTurn({ input: "hello instead" }));
        return { asked, refused, sent: await kit.play(own, "hello instead", { discardPending: true }) };
      });
      await assert.doesNotReject(async () => assert.equal(refused?.code, "invalid_input"));
      expectAnswered(t, sent, { at: 1 });
      assert.equal(sent.text, GREETING);
      const { thread } = await t.stored(asked.session);
      assert.deepEqual(waiting(thread), []);
    },
  ],
  [
    "approval: pending calls are known after a reload, and can be answered",
    async (t) => {
      const asked = await t.run(async () => kit.play(await kit.session("approver"), "TOOL please"));
      await t.page.reloadAll();
      const { last, answered, after } = await t.run(async (id) => {
        const own = await kit.reopen(id, "approver");
        const turns = await own.history();
        const last = kit.report(turns.at(-1));
        const answered = await kit.play(own, kit.answers(turns.at(-1)));
        const after = (await (await kit.reopen(id, "approver")).history()).map((turn) => kit.report(turn));
        return { last, answered, after };
      }, asked.session);
      assert.equal(last.id, asked.id);
      const names = ({ required_actions }) => required_actions.map(({ type, name, tool_call_id }) => [type, name, tool_call_id]);
      assert.deepEqual(names(last.snapshot), names(asked.snapshot));
      expectAnswered(t, answered, { at: 1 });
      assert.match(answered.text, /tirea-agentos/);
      assert.deepEqual(after.at(-1).snapshot.required_actions, []);
      assert.deepEqual(after.flatMap(({ calls }) => calls).map(({ id, status }) => [id, status]), [[asked.calls[0].id, "done"]]);
      assert.equal(after.at(-1).messages.at(-1).content, answered.text);
    },
  ],
  [
    "approval: a call that waits while the turn still streams is answered at once",
    async (t) => {
      const { asked, live, same } = await t.run(async () => {
        const own = await kit.session("approver");
        const first = own.createTurn({ input: "TOOL please" });
        const asked = await kit.stream(first);
        await kit.play(own, kit.answers(first, kit.allow, { remember: true }));
        // The first of two calls runs at once, so the turn goes on while the second waits.
        const turn = own.createTurn({ input: "LATER please" });
        const streamed = kit.stream(turn);
        await kit.until(() => kit.eventsOf(turn).some(({ content }) => content?.includes("later02")));
        const [action] = turn.snapshot().required_actions;
        const effective = await turn.answer([kit.deny(action, "too late for that")]);
        return { asked, same: effective === turn, live: await streamed };
      });
      assert.ok(same, "it takes effect in the same turn");
      expectAnswered(t, live, { at: 2 });
      const waited = live.calls.find(({ name }) => name === "failingTool");
      assert.deepEqual([waited.status, JSON.parse(waited.response.content).message], ["done", "too late for that"]);
      const { thread } = await t.stored(asked.session);
      assert.deepEqual(waiting(thread), []);
      assert.equal(t.requests("POST", new RegExp(`/v1/runs/${live.id}/inputs`)).length, 1);
      assert.equal(last(t.frames(asked.session, 2), "run_finish").termination.type, "natural_end");
    },
  ],
];
