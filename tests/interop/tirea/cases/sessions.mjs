// What the server keeps: sessions, their messages, runs and state.
import assert from "node:assert/strict";
import { GREETING } from "./expect.mjs";

/** A session with these turns; returns its id and their outcomes. */
const talk = (t, inputs, agent = "assistant") =>
  t.run(
    async ({ inputs, agent }) => {
      const own = await kit.session(agent);
      const reports = [];
      for (const input of inputs) reports.push(await kit.play(own, input));
      return { id: own.id, reports };
    },
    { inputs, agent },
  );

export const sessions = [
  [
    "sessions: the protocol's capabilities are declared",
    async (t) => {
      const capabilities = await t.run(async () => kit.plain((await kit.session()).capabilities));
      const expected = { resume: "none", cancel: true, interrupt: true, history: true, rename: true, delete: true, state: true, drafts: false, files: false };
      for (const [name, value] of Object.entries(expected)) assert.equal(capabilities[name], value, name);
    },
  ],
  [
    "sessions: the list has each thread once",
    async (t) => {
      const made = [];
      for (let count = 0; count < 3; count += 1) made.push((await talk(t, ["hello"])).id);
      const ids = await t.run(async () => (await kit.all((await kit.client()).agents.listSessions("assistant"))).map(({ id }) => id));
      assert.equal(new Set(ids).size, ids.length);
      assert.ok(made.every((id) => ids.includes(id)));
      const { total } = await t.ask("/v1/threads?limit=1");
      assert.equal(ids.length, total);
    },
  ],
  [
    "sessions: a new name is kept",
    async (t) => {
      const { id } = await talk(t, ["hello"]);
      const title = "Grüße ☃";
      const listed = await t.run(
        async ({ id, title }) => {
          const client = await kit.client();
          const own = await kit.reopen(id);
          await own.rename(title);
          const again = await kit.reopen(id);
          const listed = (await kit.all(client.agents.listSessions("assistant"))).find((session) => session.id === id);
          return [own.title, again.title, listed.title];
        },
        { id, title },
      );
      assert.deepEqual(listed.slice(1), [title, title]);
      assert.equal((await t.ask(`/v1/threads/${id}`)).metadata.title, title);
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
      await t.ask(`/v1/threads/${id}`, { status: 404 });
    },
  ],
  [
    "sessions: messages page by page, in both orders",
    async (t) => {
      const { id } = await talk(t, ["hello", "TOOL please", "SAY x 2 1"]);
      const pages = await t.run(async (id) => {
        const own = await kit.reopen(id);
        const list = async (options) => (await kit.all(own.listMessages(options))).map((message) => kit.plain(message));
        return { small: await list({ limit: 2, order: "asc" }), whole: await list({}), back: await list({ limit: 3, order: "desc" }) };
      }, id);
      const { messages } = await t.stored(id);
      const gist = (message) => [message.id, message.role, message.content];
      assert.equal(messages.length, 8);
      assert.deepEqual(pages.small.map(gist), messages.map(gist));
      assert.deepEqual(pages.whole.map(gist), messages.map(gist));
      assert.deepEqual(pages.back.map(gist), messages.map(gist).reverse());
    },
  ],
  [
    "sessions: turns are the server's records of runs",
    async (t) => {
      const { id, reports } = await talk(t, ["hello", "ERR401", "TOOL please"]);
      const turns = await t.run(async (id) => {
        const own = await kit.reopen(id);
        const turns = await kit.all(own.listTurns());
        const one = await own.getTurn(turns[0].id);
        return { list: turns.map((turn) => [turn.id, turn.status]), one: [one.id, one.status, kit.plain(await one.state())] };
      }, id);
      const { runs } = await t.stored(id);
      const byId = (list) => [...list].sort(([a], [b]) => (a < b ? -1 : 1));
      assert.deepEqual(byId(turns.list), byId(reports.map((report) => [report.id, report.status])));
      assert.deepEqual(byId(turns.list).map(([id]) => id), runs.map(({ run_id }) => run_id).sort());
      const run = runs.find(({ run_id }) => run_id === turns.one[0]);
      const { metrics } = turns.one[2];
      assert.deepEqual([metrics.total_input_tokens, metrics.total_output_tokens], [run.input_tokens, run.output_tokens]);
    },
  ],
  [
    "history: after a reload, the conversation is as it was",
    async (t) => {
      const { id, reports } = await talk(t, ["hello", "TOOL please", "REASONING"]);
      await t.page.reloadAll();
      const turns = await t.run(async (id) => (await (await kit.reopen(id)).history()).map((turn) => kit.report(turn)), id);
      assert.equal(t.starts(id).length, 3);
      const gist = (report) => ({
        id: report.id,
        status: report.status,
        input: report.snapshot.input.map(({ content }) => content),
        messages: report.messages.map(({ id, content }) => [id, content]),
        calls: report.calls.map(({ id, name, arguments: json, status, response }) => [id, name, json, status, response?.content]),
      });
      assert.deepEqual(turns.map(gist), reports.map(gist));
    },
  ],
  [
    "history: the turns after a reload continue the conversation",
    async (t) => {
      const { id, reports } = await talk(t, ["hello"]);
      await t.page.reloadAll();
      const next = await t.run(async (id) => {
        const own = await kit.reopen(id);
        await own.history();
        return kit.play(own, "SAY more 3 1");
      }, id);
      assert.equal(next.status, "done");
      assert.equal(t.starts(id)[1].body.parentRunId, reports[0].id);
      const { messages } = await t.stored(id);
      assert.deepEqual(messages.map(({ role, content }) => [role, content]), [["user", "hello"], ["assistant", GREETING], ["user", "SAY more 3 1"], ["assistant", next.text]]);
    },
  ],
  [
    "state: the agent's state, without the server's own",
    async (t) => {
      const { id } = await talk(t, ["TOOL please"]);
      const state = await t.run(async (id) => kit.plain(await (await kit.reopen(id)).state()), id);
      const { thread } = await t.stored(id);
      assert.ok(Object.keys(thread.state).some((name) => name.startsWith("__")));
      const own = Object.entries(thread.state).filter(([name]) => !name.startsWith("__"));
      assert.deepEqual(state, Object.fromEntries(own));
    },
  ],
];
