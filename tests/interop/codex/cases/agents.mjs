// Sub-agents: threads of their own, whose questions reach the client of the turn that made them.
import assert from "node:assert/strict";
import { pause } from "../../parts.mjs";
import { expectSound, said } from "./expect.mjs";

const REQUEST = "item/commandExecution/requestApproval";

/** Begins a turn in the page, as `globalThis.played`, and waits until something is asked in it. */
const begin = (t, input) =>
  t.run(async (input) => {
    const own = await kit.session();
    const turn = own.createTurn({ input });
    const news = { resumed: 0 };
    turn.on("resumed", () => (news.resumed += 1));
    globalThis.played = { own, turn, news, streamed: kit.stream(turn) };
    await kit.until(() => turn.snapshot().required_actions.length > 0);
    return { id: own.id, asked: kit.report(turn) };
  }, input);

/** Answers all pending calls of that turn, by the name of an answer, and waits for its end. */
const end = (t, how = "allow") =>
  t.run(async (how) => {
    await played.turn.answer(kit.answers(played.turn, kit[how]));
    return played.streamed;
  }, how);

/** What holds while a sub-agent's command waits. Returns the id of its thread. */
function expectAsked(t, { snapshot, status }) {
  assert.equal(status, "running");
  const [request] = t.heard(REQUEST);
  assert.deepEqual(
    snapshot.required_actions.map(({ type, thread_id, tool_call_id }) => [type, thread_id, tool_call_id]),
    [["tool.approval_required", request.params.threadId, request.params.itemId]],
  );
  assert.match(snapshot.required_actions[0].arguments, new RegExp(t.id));
  assert.ok(snapshot.threads.some(({ id }) => id === request.params.threadId));
  return request.params.threadId;
}

/** What holds at the end of a turn whose command was run. */
function expectRun(t, report) {
  expectSound(report);
  assert.equal(report.error, null);
  assert.equal(report.status, "done");
  assert.deepEqual(report.snapshot.required_actions, []);
  assert.equal(t.runs, 1);
  assert.equal(t.answers().length, 1);
  assert.deepEqual(t.answers()[0].result, { decision: "accept" });
  assert.equal(report.types.filter((type) => type === "tool.approval_required").length, 1, "it is asked once");
}

export const agents = [
  [
    "sub-agent: its command waits in the turn, is granted, and runs once",
    async (t) => {
      const { asked } = await begin(t, `AGENT EXEC ${t.command}`);
      const thread = expectAsked(t, asked);
      const report = await end(t);
      expectRun(t, report);
      const [call, wait] = report.calls;
      assert.deepEqual([call.name, call.thread_id, wait.name], ["spawnAgent", thread, "wait"]);
      const { title, status, parent } = report.snapshot.threads[1];
      assert.deepEqual({ title, status, parent }, { title: `EXEC ${t.command}`, status: "done", parent: { thread_id: "main", tool_call_id: call.id } });
      assert.deepEqual(report.types.filter((type) => type.startsWith("thread.")), ["thread.created", "thread.done"]);
      assert.equal(t.sent("thread/list").length, 0, "what comes by itself is not asked for");
    },
  ],
  [
    "sub-agent: its command is declined, and the turn goes on",
    async (t) => {
      const { asked } = await begin(t, `AGENT EXEC ${t.command}`);
      expectAsked(t, asked);
      const report = await end(t, "deny");
      expectSound(report);
      assert.equal(report.status, "done");
      assert.equal(t.runs, 0);
      assert.deepEqual(t.answers()[0].result, { decision: "decline" });
      assert.deepEqual(report.snapshot.required_actions, []);
      assert.match(report.text, /rejected by user/);
    },
  ],
  [
    "sub-agent: a sub-agent's own sub-agent asks, too",
    async (t) => {
      const { asked } = await begin(t, `AGENT AGENT EXEC ${t.command}`);
      const thread = expectAsked(t, asked);
      const report = await end(t);
      expectRun(t, report);
      assert.notEqual(thread, report.calls[0].thread_id);
      assert.deepEqual(report.snapshot.threads.map(({ id }) => id), ["main", report.calls[0].thread_id, thread]);
    },
  ],
  [
    "sub-agent: its history is that of the turn",
    async (t) => {
      const { id } = await begin(t, `AGENT EXEC ${t.command}`);
      const report = await end(t);
      const threads = await t.run(async (id) => {
        const [turn] = await (await kit.reopen(id)).history();
        return kit.plain(turn.snapshot().threads.map(({ id, title, status, parent }) => ({ id, title, status, parent })));
      }, id);
      assert.deepEqual(threads, report.snapshot.threads.map(({ id, title, status, parent }) => ({ id, title, status, parent })));
    },
  ],
  ...["AGENT", "AGENT AGENT"].map((words) => [
    `break: while a sub-agent's command waits (${words}), it is asked again and answered once`,
    async (t) => {
      const { asked } = await begin(t, `${words} EXEC ${t.command}`);
      expectAsked(t, asked);
      t.cut();
      await t.run(() => kit.until(() => played.news.resumed > 0));
      await t.until(() => t.heard(REQUEST).length === 2, "the second question");
      await pause(200);
      expectAsked(t, await t.run(() => kit.report(played.turn)));
      const [one, two] = t.heard(REQUEST);
      assert.equal(one.id, two.id);
      expectRun(t, await end(t));
    },
  ]),
  [
    "break: a sub-agent's question that comes while no client is connected is delivered afterwards",
    async (t) => {
      await t.run(async (input) => {
        const own = await kit.session();
        const turn = own.createTurn({ input });
        globalThis.played = { turn, streamed: kit.stream(turn) };
        await kit.until(() => turn.snapshot().threads.length > 1);
      }, `AGENT EXEC sleep 1; ${t.command}`);
      const back = t.away();
      await pause(1500);
      back();
      await t.run(() => kit.until(() => played.turn.snapshot().required_actions.length > 0));
      expectAsked(t, await t.run(() => kit.report(played.turn)));
      expectRun(t, await end(t));
    },
  ],
  [
    "reload: a sub-agent's command that waits can be answered in the new page",
    async (t) => {
      const { id } = await begin(t, `AGENT EXEC ${t.command}`);
      await t.page.reloadAll();
      const report = await t.run(async (id) => {
        const turn = (await (await kit.reopen(id)).resume()).at(-1);
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        await turn.answer(kit.answers(turn));
        await turn.waitForCompletion();
        return kit.report(turn);
      }, id);
      assert.equal(report.status, "done");
      assert.equal(t.runs, 1);
      assert.equal(t.answers().length, 1);
    },
  ],
  [
    "sub-agent: an undelivered question of an earlier turn is delivered in the turn that waits for it",
    async (t) => {
      const report = await t.run(async (input) => {
        const own = await kit.session();
        const first = await kit.play(own, input);
        const turn = own.createTurn({ input: `AWAIT ${first.snapshot.threads[1].id}` });
        globalThis.played = { turn, streamed: kit.stream(turn) };
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        return kit.report(turn);
      }, `ASIDE EXEC ${t.command}`);
      expectAsked(t, report);
      expectRun(t, await end(t));
    },
  ],
  [
    "sub-agent: the questions of another client's sub-agents are ignored",
    async (t) => {
      await t.run(async () => {
        const turn = (await kit.session()).createTurn({ input: "SAY tok 60 50" });
        globalThis.other = { turn, streamed: kit.stream(turn) };
        await kit.until(() => kit.eventsOf(turn).length > 3);
      });
      const asked = await t.beside(async (page) => {
        const beside = Object.create(t, { page: { value: page }, run: { value: (action, argument) => page.evaluate(action, argument) } });
        const { asked } = await begin(beside, `AGENT EXEC ${t.command}`);
        await t.until(() => t.sockets.every(({ heard }) => heard.some(({ method }) => method === REQUEST)), "the question on both connections");
        assert.deepEqual(await t.run(() => kit.plain(other.turn.snapshot().required_actions)), []);
        expectRun(t, await end(beside));
        return asked;
      });
      const report = await t.run(() => other.streamed);
      expectSound(report);
      assert.equal(report.text, said("tok", 60));
      assert.equal(report.snapshot.threads.length, 1);
      assert.ok(report.natives.every((message) => !JSON.stringify(message).includes(asked.snapshot.required_actions[0].thread_id)));
    },
  ],
];
