// What the server keeps: sessions and their turns.
import assert from "node:assert/strict";
import { expectAnswered, GREETING, said } from "./expect.mjs";

/** A session with these turns, in which every command is granted; returns its id and their outcomes. */
const talk = (t, inputs) =>
  t.run(async (inputs) => {
    const own = await kit.session();
    const reports = [];
    for (const input of inputs) {
      const turn = own.createTurn({ input });
      turn.on("tool.approval_required", () => setTimeout(() => void turn.answer(kit.answers(turn))));
      reports.push(await kit.stream(turn));
    }
    return { id: own.id, reports };
  }, inputs);

const gist = (report) => ({
  id: report.id,
  status: report.status,
  text: report.text,
  reasoning: report.messages.map((message) => message.reasoning_content ?? "").join(""),
  calls: report.calls.map(({ id, name, arguments: json, status, response }) => [id, name, json, status, response?.content]),
});

export const sessions = [
  [
    "history: after a reload, the conversation is as it was",
    async (t) => {
      const { id, reports } = await talk(t, ["hello", `EXEC ${t.command}`, "REASONING", "ERR500"]);
      assert.deepEqual(reports.map(({ status }) => status), ["done", "done", "done", "error"]);
      await t.page.reloadAll();
      const turns = await t.run(async (id) => (await (await kit.reopen(id)).history()).map((turn) => kit.report(turn)), id);
      assert.equal(t.sent("turn/start").length, 4);
      assert.deepEqual(turns.map(gist), reports.map(gist));
    },
  ],
  [
    "history: the turns after a reload continue the conversation",
    async (t) => {
      const { id } = await talk(t, ["hello"]);
      await t.page.reloadAll();
      const { next, all } = await t.run(async (id) => {
        const own = await kit.reopen(id);
        await own.history();
        const next = await kit.play(own, "SAY more 3 1");
        return { next, all: (await own.history()).map((turn) => kit.report(turn)) };
      }, id);
      expectAnswered(next, said("more", 3));
      assert.deepEqual(all.map(({ text }) => text), [GREETING, said("more", 3)]);
    },
  ],
  [
    "sessions: turns are listed, and read one by one",
    async (t) => {
      const { id, reports } = await talk(t, ["hello", "ERR500"]);
      const turns = await t.run(async (id) => {
        const own = await kit.reopen(id);
        const turns = await kit.all(own.listTurns());
        const one = await own.getTurn(turns.at(-1).id);
        return { list: turns.map((turn) => [turn.id, turn.status]), one: [one.id, one.status] };
      }, id);
      assert.deepEqual(turns.list, reports.map((report) => [report.id, report.status]).reverse());
      assert.deepEqual(turns.one, turns.list.at(-1));
    },
  ],
  [
    "sessions: the list has each once, with its name",
    async (t) => {
      const ids = [];
      for (let count = 0; count < 2; count += 1) ids.push((await talk(t, ["hello"])).id);
      const title = "Grüße ☃";
      const listed = await t.run(
        async ({ id, title }) => {
          const client = await kit.client();
          await (await kit.reopen(id)).rename(title);
          const again = await kit.reopen(id);
          return { again: again.title, list: (await kit.all(client.agents.listSessions("mock-1"))).map((own) => [own.id, own.title]) };
        },
        { id: ids[0], title },
      );
      assert.equal(listed.again, title);
      assert.equal(new Set(listed.list.map(([id]) => id)).size, listed.list.length);
      assert.ok(ids.every((id) => listed.list.some(([known]) => known === id)), JSON.stringify(listed.list));
      assert.equal(listed.list.find(([id]) => id === ids[0])[1], title);
    },
  ],
  [
    "sessions: one is made with a title",
    async (t) => {
      const titles = await t.run(async () => {
        const client = await kit.client();
        const own = await client.agents.createSession("codex", { title: "Mine ☃" });
        await kit.play(own, "hello");
        return [own.title, (await kit.reopen(own.id)).title];
      });
      assert.deepEqual(titles, ["Mine ☃", "Mine ☃"]);
      assert.equal(t.sent("thread/name/set").length, 1);
    },
  ],
  [
    "sessions: a deleted one is gone",
    async (t) => {
      const { id } = await talk(t, ["hello"]);
      const error = await t.run(async (id) => {
        await (await kit.reopen(id)).delete();
        return kit.thrown(() => kit.reopen(id));
      }, id);
      assert.equal(error?.status, 404);
    },
  ],
];
