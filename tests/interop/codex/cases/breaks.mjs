// Connections that break, and pages that are reloaded.
import assert from "node:assert/strict";
import { pause } from "../../parts.mjs";
import { expectAnswered, expectSound, said } from "./expect.mjs";

/** Begins a turn in the page, as `globalThis.played`, and waits until it has some text. */
const begin = (t, input, count = 3) =>
  t.run(
    async ({ input, count }) => {
      const own = await kit.session();
      const turn = own.createTurn({ input });
      const news = { reconnecting: 0, resumed: 0, gap: 0 };
      for (const topic of Object.keys(news)) turn.on(topic, () => (news[topic] += 1));
      globalThis.played = { turn, news, streamed: kit.stream(turn) };
      const isHeard = ({ type, content }) => type === "model.message.delta" && content;
      if (count > 0) await kit.until(() => kit.eventsOf(turn).filter(isHeard).length >= count);
      else await kit.until(() => turn.snapshot().required_actions.length > 0);
      return own.id;
    },
    { input, count },
  );

/** Waits for its end. */
const end = (t) => t.run(async () => ({ report: await played.streamed, news: played.news }));

/** The turn ends, its command was run once, and the server has one answer. */
async function endAnsweredOnce(t) {
  const { report } = await end(t);
  expectSound(report);
  assert.equal(report.status, "done");
  assert.equal(t.runs, 1);
  assert.equal(t.answers().length, 1);
}

export const breaks = [
  [
    "break: within text, nothing is lost or repeated",
    async (t) => {
      await begin(t, "SAY tok 60 50");
      t.cut();
      const { report, news } = await end(t);
      expectAnswered(report, said("tok", 60));
      assert.equal(report.text, said("tok", 60));
      assert.ok(news.reconnecting >= 1 && news.resumed >= 1, JSON.stringify(news));
      assert.equal(t.sockets.length, 2);
      assert.equal(t.sent("turn/start").length, 1);
    },
  ],
  [
    "break: four times within one text",
    async (t) => {
      await begin(t, "SAY tok 120 50");
      for (let count = 0; count < 4; count += 1) {
        t.cut();
        await pause(900);
      }
      const { report, news } = await end(t);
      expectAnswered(report, said("tok", 120));
      assert.equal(report.text, said("tok", 120));
      assert.ok(news.resumed >= 2, JSON.stringify(news));
      assert.equal(t.sent("turn/start").length, 1);
    },
  ],
  [
    "break: the turn ends while the server cannot be reached",
    async (t) => {
      await begin(t, "SAY tok 30 30");
      const back = t.away();
      await pause(2500);
      back();
      const { report } = await end(t);
      expectAnswered(report, said("tok", 30));
      assert.equal(report.text, said("tok", 30));
    },
  ],
  [
    "break: while a command waits for consent, it is asked again and answered once",
    async (t) => {
      await begin(t, `EXEC ${t.command}`, 0);
      t.cut();
      await t.run(() => kit.until(() => played.news.resumed > 0));
      await t.until(() => t.heard("item/commandExecution/requestApproval").length === 2, "the second question");
      await pause(200);
      const waiting = await t.run(() => kit.plain(played.turn.snapshot().required_actions));
      assert.equal(waiting.length, 1);
      await t.run(async () => void (await played.turn.answer(kit.answers(played.turn))));
      const { report } = await end(t);
      expectSound(report);
      assert.equal(report.error, null);
      assert.equal(report.status, "done");
      assert.equal(t.runs, 1);
      assert.equal(t.answers().length, 1);
      const [one, two] = t.heard("item/commandExecution/requestApproval");
      assert.equal(one.id, two.id);
      assert.equal(report.types.filter((type) => type === "tool.approval_required").length, 1);
      assert.match(report.text, /did-run/);
      assert.equal(report.calls.length, 1);
    },
  ],
  [
    "break: an answer that is given while the connection is down arrives",
    async (t) => {
      await begin(t, `EXEC ${t.command}`, 0);
      const back = t.away();
      await pause(300);
      const given = t.run(async () => kit.thrown(async () => void (await played.turn.answer(kit.answers(played.turn)))));
      await pause(1000);
      back();
      const error = await given;
      if (error !== null) {
        // Nothing was sent, and the error said so: the answer may be given again.
        assert.equal(error.name, "ConnectionError");
        await t.run(() => kit.until(() => played.news.resumed > 0));
        await t.run(async () => void (await played.turn.answer(kit.answers(played.turn))));
      }
      await endAnsweredOnce(t);
    },
  ],
  [
    "break: a call whose answer was lost in transit is still pending, and is answered again",
    async (t) => {
      await begin(t, `EXEC ${t.command}`, 0);
      const hear = t.deaf();
      await t.run(async () => void (await played.turn.answer(kit.answers(played.turn))));
      await pause(300);
      hear();
      await t.run(() => kit.until(() => played.news.resumed > 0));
      await t.until(() => t.heard("item/commandExecution/requestApproval").length === 2, "the second question");
      await t.run(async () => void (await played.turn.answer(kit.answers(played.turn))));
      await endAnsweredOnce(t);
    },
  ],
  [
    "break: while a command runs, its result comes",
    async (t) => {
      await begin(t, `EXEC sleep 1; ${t.command}`, 0);
      await t.run(async () => void (await played.turn.answer(kit.answers(played.turn))));
      await pause(200);
      t.cut();
      const { report } = await end(t);
      expectSound(report);
      assert.equal(report.status, "done");
      assert.equal(t.runs, 1);
      assert.deepEqual(report.calls.map(({ status }) => status), ["done"]);
      assert.match(report.calls[0].response.content, /did-run/);
    },
  ],
  [
    "break: a message sent meanwhile is there once",
    async (t) => {
      await begin(t, "SAY tok 100 50");
      await t.run(() => played.turn.steer("SAY more 40 50"));
      t.cut();
      const { report } = await end(t);
      expectSound(report);
      assert.equal(report.status, "done");
      assert.equal(report.messages.at(-1).content, said("more", 40));
      const notices = report.snapshot.notices.filter(({ code }) => code === "user_message");
      assert.deepEqual(notices.map(({ message }) => message), ["SAY more 40 50"]);
      assert.deepEqual([t.sent("turn/start").length, t.sent("turn/steer").length], [1, 1]);
    },
  ],
  [
    "break: a message sent while the connection is down is sent once, or its error says that it was not",
    async (t) => {
      await begin(t, "SAY tok 100 50");
      const hear = t.deaf();
      const given = t.run(() => kit.thrown(() => played.turn.steer("SAY more 3 1")));
      await pause(300);
      hear();
      const error = await given;
      assert.deepEqual([error?.name, error?.code], ["ConnectionError", "network"]);
      await t.run(() => kit.until(() => played.news.resumed > 0));
      await t.run(() => played.turn.steer("SAY more 3 1"));
      const { report } = await end(t);
      expectAnswered(report, said("more", 3));
      assert.equal(report.snapshot.notices.filter(({ code }) => code === "user_message").length, 1);
      assert.equal(t.sent("turn/steer").length, 1);
    },
  ],
  [
    "reload: a turn that streams goes on in the new page",
    async (t) => {
      const id = await begin(t, "SAY tok 60 50");
      await t.page.reloadAll();
      const report = await t.run(async (id) => {
        const own = await kit.reopen(id);
        const turns = await own.resume();
        const turn = turns.at(-1);
        const running = turn.status;
        await turn.waitForCompletion();
        return { ...kit.report(turn), running, count: turns.length };
      }, id);
      assert.equal(report.count, 1);
      assert.equal(report.running, "running");
      assert.equal(report.status, "done");
      assert.equal(report.text, said("tok", 60));
      assert.equal(t.sent("turn/start").length, 1);
    },
  ],
  [
    "reload: a command that waits for consent can be answered in the new page",
    async (t) => {
      const id = await begin(t, `EXEC ${t.command}`, 0);
      await t.page.reloadAll();
      const report = await t.run(async (id) => {
        const own = await kit.reopen(id);
        const turn = (await own.resume()).at(-1);
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        await turn.answer(kit.answers(turn));
        await turn.waitForCompletion();
        return kit.report(turn);
      }, id);
      assert.equal(report.status, "done");
      assert.equal(t.runs, 1);
      assert.equal(t.answers().length, 1);
      assert.match(report.text, /did-run/);
      assert.deepEqual(report.calls.map(({ status }) => status), ["done"]);
    },
  ],
];
