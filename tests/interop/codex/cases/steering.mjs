// Messages to an agent that is working.
import assert from "node:assert/strict";
import { expectAnswered, expectSound, said } from "./expect.mjs";

/** The messages sent meanwhile, as the turn reports them. */
const meanwhile = (report) => report.snapshot.notices.filter(({ code }) => code === "user_message");

/** One message was sent, with this text, after this one. */
function expectSaid(report, words, after) {
  const [notice, ...more] = meanwhile(report);
  assert.deepEqual(more, []);
  assert.deepEqual([notice.level, notice.message], ["info", words]);
  assert.deepEqual(notice.details, { input: [{ type: "user.message", content: words }], after });
}

export const steering = [
  [
    "steer: the agent reads a message that is sent while it streams, in the same turn",
    async (t) => {
      const report = await t.run(async () => {
        const turn = (await kit.session()).createTurn({ input: "SAY tok 100 50" });
        return kit.streamUntil(turn, 3, () => turn.steer("SAY more 3 1"));
      });
      const [{ params }] = t.sent("turn/steer");
      assert.deepEqual([params.expectedTurnId, params.input], [report.id, [{ type: "text", text: "SAY more 3 1" }]]);
      assert.deepEqual([t.sent("turn/steer").length, t.sent("turn/start").length], [1, 1]);
      expectAnswered(report, said("more", 3));
      const [first] = report.messages;
      assert.ok(said("tok", 100).startsWith(first.content) && first.content !== "", first.content);
      assert.equal(first.finish_reason, "interrupted");
      assert.deepEqual(report.snapshot.input, [{ type: "user.message", content: "SAY tok 100 50" }]);
      expectSaid(report, "SAY more 3 1", first.id);
      const [known, ...others] = await t.beside((page) =>
        page.evaluate(async (id) => (await (await kit.reopen(id)).history()).map((turn) => kit.report(turn)), report.session),
      );
      assert.deepEqual(others, []);
      assert.deepEqual(known.snapshot.input, report.snapshot.input);
      // The server keeps nothing of an interrupted message.
      expectSaid(known, "SAY more 3 1", null);
      assert.equal(known.text, said("more", 3));
    },
  ],
  [
    "steer: while a command waits for consent, the command still waits",
    async (t) => {
      const report = await t.run(async (input) => {
        const turn = (await kit.session()).createTurn({ input });
        const streamed = kit.stream(turn);
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        await turn.steer([{ type: "user.message", content: [{ type: "text", text: "SAY more 3 1" }] }]);
        await new Promise((resolve) => setTimeout(resolve, 300));
        await turn.answer(kit.answers(turn));
        return streamed;
      }, `EXEC ${t.command}`);
      assert.equal(t.runs, 1);
      assert.deepEqual(report.calls.map(({ status }) => status), ["done"]);
      expectAnswered(report, said("more", 3));
      assert.deepEqual(meanwhile(report).map(({ message }) => message), ["SAY more 3 1"]);
    },
  ],
  [
    "steer: a turn that has not begun, or has ended, accepts no message, and no turn starts",
    async (t) => {
      const errors = await t.run(async () => {
        const turn = (await kit.session()).createTurn({ input: "hello" });
        const early = await kit.thrown(() => turn.steer("more"));
        await kit.stream(turn);
        return [early, await kit.thrown(() => turn.steer("more")), await kit.thrown(() => turn.steer([]))];
      });
      assert.deepEqual(errors.map(({ name, code }) => [name, code]), [
        ["StateError", "turn_not_started"],
        ["StateError", "turn_not_running"],
        ["InputError", "invalid_input"],
      ]);
      assert.deepEqual([t.sent("turn/steer").length, t.sent("turn/start").length], [0, 1]);
    },
  ],
  [
    "steer: the server refuses it for a turn that has ended without the page's knowledge",
    async (t) => {
      const error = await t.run(async () => {
        const own = await kit.session();
        const turn = own.createTurn({ input: "SAY tok 20 50" });
        const streamed = kit.stream(turn);
        await kit.until(() => turn.id !== null);
        // A second object for the same turn, without readers.
        const [other] = await (await kit.reopen(own.id)).history();
        await streamed;
        return kit.thrown(() => other.steer("more"));
      });
      assert.deepEqual([error.name, error.code], ["ApiError", "rpc"]);
      assert.match(error.message, /no active turn/);
      assert.equal(t.sent("turn/start").length, 1);
    },
  ],
  [
    "steer: after a reload, the running turn accepts it, and both messages are there",
    async (t) => {
      const id = await t.run(async () => {
        const own = await kit.session();
        const turn = own.createTurn({ input: "SAY tok 100 50" });
        void kit.stream(turn);
        await kit.until(() => kit.eventsOf(turn).filter(({ type }) => type === "model.message.delta").length >= 3);
        await turn.steer("SAY first 100 50");
        await kit.until(() => turn.snapshot().notices.some(({ code }) => code === "user_message"));
        return own.id;
      });
      await t.page.reloadAll();
      const report = await t.run(async (id) => {
        const [turn] = await (await kit.reopen(id)).resume();
        await turn.steer("SAY second 3 1");
        await turn.waitForCompletion();
        return kit.report(turn);
      }, id);
      assert.equal(report.status, "done");
      assert.deepEqual(meanwhile(report).map(({ message }) => message), ["SAY first 100 50", "SAY second 3 1"]);
      assert.deepEqual(report.snapshot.input.map(({ content }) => content), ["SAY tok 100 50"]);
      assert.equal(report.messages.at(-1).content, said("second", 3));
      assert.equal(t.sent("turn/start").length, 1);
    },
  ],
  [
    "a second turn waits until the first has ended, and is distinguished from it",
    async (t) => {
      const { reports, states, busy } = await t.run(async () => {
        const own = await kit.session();
        const turns = ["SAY one 20 20", "SAY two 3 1", "SAY three 3 1"].map((input) => own.createTurn({ input }));
        const first = kit.stream(turns[0]);
        const busy = await kit.thrown(() => own.createTurn({ input: "hello", whenBusy: "fail" }).stream());
        const [second, third] = [turns[1].waitForCompletion(), kit.stream(turns[2])];
        const states = [(await second).output.content];
        return { reports: [await first, await third], states, busy };
      });
      assert.deepEqual([busy.name, busy.code], ["StateError", "session_busy"]);
      expectAnswered(reports[0], said("one", 20));
      expectAnswered(reports[1], said("three", 3));
      assert.deepEqual(states, [said("two", 3)]);
      assert.deepEqual(t.sent("turn/start").map(({ params }) => params.input[0].text), ["SAY one 20 20", "SAY two 3 1", "SAY three 3 1"]);
      assert.deepEqual(reports.flatMap(meanwhile), []);
    },
  ],
  [
    "a second turn that is cancelled while it waits is never sent",
    async (t) => {
      const { first, status } = await t.run(async () => {
        const own = await kit.session();
        const streamed = kit.stream(own.createTurn({ input: "SAY one 20 20" }));
        const second = own.createTurn({ input: "SAY two 3 1" });
        const waiting = kit.stream(second);
        await second.cancel();
        await waiting;
        return { first: await streamed, status: second.status };
      });
      expectAnswered(first, said("one", 20));
      assert.equal(status, "unstarted");
      assert.equal(t.sent("turn/start").length, 1);
    },
  ],
  [
    "a turn that a page starts while another page's runs becomes part of that one",
    async (t) => {
      const begun = await t.run(async () => {
        const own = await kit.session();
        const turn = own.createTurn({ input: "SAY tok 100 50" });
        globalThis.played = kit.stream(turn);
        await kit.until(() => kit.eventsOf(turn).filter(({ type }) => type === "model.message.delta").length >= 3);
        return { session: own.id, turn: turn.id };
      });
      const joined = await t.beside((page) => page.evaluate(async (id) => kit.play(await kit.reopen(id), "SAY more 3 1"), begun.session));
      const report = await t.run(() => played);
      expectAnswered(report, said("more", 3));
      assert.deepEqual(meanwhile(report).map(({ message }) => message), ["SAY more 3 1"]);
      expectSound(joined);
      assert.deepEqual([joined.id, joined.status, joined.messages.at(-1).content], [begun.turn, "done", said("more", 3)]);
      assert.deepEqual(joined.snapshot.input, [{ type: "user.message", content: "SAY more 3 1" }]);
      assert.deepEqual(meanwhile(joined), []);
    },
  ],
  [
    "a turn that becomes part of a waiting one can give its consent",
    async (t) => {
      const begun = await t.run(async (input) => {
        const own = await kit.session();
        const turn = own.createTurn({ input });
        globalThis.played = kit.stream(turn);
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        return { session: own.id, turn: turn.id };
      }, `EXEC ${t.command}`);
      const joined = await t.beside((page) =>
        page.evaluate(async (id) => {
          const turn = (await kit.reopen(id)).createTurn({ input: "SAY more 3 1" });
          const streamed = kit.stream(turn);
          await kit.until(() => turn.snapshot().required_actions.length > 0);
          await turn.answer(kit.answers(turn));
          return streamed;
        }, begun.session),
      );
      const report = await t.run(() => played);
      assert.equal(joined.id, begun.turn);
      assert.equal(t.runs, 1);
      for (const read of [report, joined]) expectAnswered(read, said("more", 3));
      assert.deepEqual([report, joined].map(({ calls }) => calls.map(({ status }) => status)), [["done"], ["done"]]);
    },
  ],
];
