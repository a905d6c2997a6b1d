// Two pages on one conversation.
import assert from "node:assert/strict";
import { expectAnswered, expectSound } from "./expect.mjs";

/** A turn's result, for any reader and any way to read it. */
const whole = (report) => ({
  id: report.id,
  status: report.status,
  input: report.snapshot.input,
  said: report.messages.map(({ id, content, reasoning_content }) => [id, content, reasoning_content ?? ""]),
  calls: report.calls.map(({ id, name, arguments: json, status, response }) => [id, name, json, status, response?.content, response?.outcome]),
  output: report.snapshot.state.output?.content,
});

export const pages = [
  [
    "two pages: both are asked, the first answer counts, and the other page is notified",
    async (t) => {
      const id = await t.run(async (input) => {
        const own = await kit.session();
        const turn = own.createTurn({ input });
        globalThis.played = { turn, streamed: kit.stream(turn) };
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        const answers = kit.answers(turn);
        turn.on("tool.resumed", () => (played.late = kit.thrown(() => turn.answer(answers))));
        return own.id;
      }, `EXEC sleep 1; ${t.command}`);
      const other = await t.beside(async (page) =>
        page.evaluate(async (id) => {
          const [turn] = await (await kit.reopen(id)).resume();
          await kit.until(() => turn.snapshot().required_actions.length > 0);
          await turn.answer(kit.answers(turn));
          await turn.waitForCompletion();
          return kit.report(turn);
        }, id),
      );
      const { late, report } = await t.run(async () => {
        const report = await played.streamed;
        return { late: await played.late, report };
      });
      const asked = t.heard("item/commandExecution/requestApproval");
      assert.equal(asked.length, 2);
      assert.equal(asked[0].id, asked[1].id);
      assert.equal(t.answers().length, 1);
      assert.equal(t.runs, 1);
      expectSound(report);
      const order = report.types.filter((type) => type.startsWith("tool.") && type !== "tool.output");
      assert.deepEqual(order, ["tool.approval_required", "tool.resumed", "tool.response"]);
      assert.deepEqual([late?.name, late?.code], ["InputError", "invalid_input"], "what is answered cannot be answered again");
      assert.deepEqual(whole(other), whole(report));
    },
  ],
  [
    "two pages: both answer, and the command runs once",
    async (t) => {
      const id = await t.run(async (input) => {
        const own = await kit.session();
        const turn = own.createTurn({ input });
        globalThis.played = { turn, streamed: kit.stream(turn) };
        await kit.until(() => turn.snapshot().required_actions.length > 0);
        return own.id;
      }, `EXEC ${t.command}`);
      await t.beside(async (page) => {
        await page.evaluate(async (id) => {
          const [turn] = await (await kit.reopen(id)).resume();
          globalThis.played = { turn };
          await kit.until(() => turn.snapshot().required_actions.length > 0);
        }, id);
        const answer = async () => void (await kit.thrown(() => played.turn.answer(kit.answers(played.turn))));
        await Promise.all([t.page.evaluate(answer), page.evaluate(answer)]);
        const report = await t.run(() => played.streamed);
        const end = await page.evaluate(async () => (await played.turn.waitForCompletion()).status);
        assert.deepEqual([report.status, end], ["done", "done"]);
        assert.deepEqual(report.snapshot.required_actions, []);
        assert.equal(t.runs, 1);
      });
    },
  ],
  [
    "two pages: both have the tool that is called, and the first result counts",
    async (t) => {
      const tool = { type: "function", name: "clock", description: "The time", inputSchema: { type: "object", properties: {} } };
      const id = await t.run(async (tool) => {
        const own = await (await kit.client()).agents.createSession("codex", { sessionOptions: { dynamicTools: [tool] } });
        globalThis.played = { isAsked: false };
        const run = () => {
          played.isAsked = true;
          return new Promise((resolve) => (played.resolve = resolve));
        };
        own.tools({ clock: { description: tool.description, run } });
        const turns = own.run("CALL clock {}");
        played.ended = (async () => {
          for await (const turn of turns) played.report = await kit.stream(turn);
          return played.report;
        })();
        await kit.until(() => played.isAsked);
        return own.id;
      }, tool);
      const other = await t.beside((page) =>
        page.evaluate(async (id) => {
          const own = await kit.reopen(id);
          own.tools({ clock: { description: "The time", run: () => "noon" } });
          const [turn] = await own.resume();
          const run = own.run();
          await run.waitForCompletion();
          return { reason: run.reason, report: kit.report(turn) };
        }, id),
      );
      const report = await t.run(async () => {
        const report = await played.ended;
        played.resolve("midnight");
        return report;
      });
      assert.equal(other.reason, "done");
      assert.deepEqual(whole(other.report), whole(report));
      assert.deepEqual(report.calls.map(({ name, status, response }) => [name, status, response.content]), [["clock", "done", "noon"]]);
      expectAnswered(report, "Tool said: noon");
      assert.equal(t.answers().length, 1);
    },
  ],
  [
    "two pages: one page's history equals the other's stream",
    async (t) => {
      const { id, reports } = await t.run(
        async ({ inputs, tool }) => {
          const own = await (await kit.client()).agents.createSession("codex", { sessionOptions: { dynamicTools: [tool] } });
          own.tools({ clock: { description: tool.description, run: ({ zone }) => `noon in ${zone}` } });
          const reports = [];
          for (const [input, how] of inputs) {
            for await (const turn of own.run(input)) {
              turn.on("tool.approval_required", () => setTimeout(() => void turn.answer(kit.answers(turn, kit[how]))));
              reports.push(await kit.stream(turn));
            }
          }
          return { id: own.id, reports };
        },
        {
          inputs: [
            ["hello", ""],
            [`EXEC ${t.command}`, "allow"],
            [`EXEC ${t.command}; exit 3`, "allow"],
            [`MIXED ${t.command}`, "deny"],
            [`PATCH ${t.id}.txt one`, "allow"],
            [`PATCH ${t.id}.md one`, "deny"],
            ['CALL clock {"zone":"Rome"}', ""],
            ["REASONING", ""],
            ["ERR500", ""],
          ],
          tool: { type: "function", name: "clock", description: "The time in a zone", inputSchema: { type: "object", properties: { zone: { type: "string" } } } },
        },
      );
      for (const report of reports) expectSound(report);
      assert.equal(reports.length, 9);
      assert.equal(t.runs, 2);
      const known = await t.beside((page) =>
        page.evaluate(async (id) => (await (await kit.reopen(id)).history()).map((turn) => kit.report(turn)), id),
      );
      // The server keeps nothing of a declined command, for any reader.
      const [declined] = reports[3].calls;
      assert.deepEqual([declined.response.content, declined.response.outcome], ["declined", "failed"]);
      reports[3].calls = [];
      assert.deepEqual(known.map(whole), reports.map(whole));
      const outcomes = known.flatMap(({ calls }) => calls.map(({ name, response }) => [name, response.outcome]));
      assert.deepEqual(outcomes, [
        ["commandExecution", "succeeded"],
        ["commandExecution", "failed"],
        ["fileChange", "succeeded"],
        ["fileChange", "failed"],
        ["clock", "succeeded"],
      ]);
    },
  ],
  [
    "remember: a command that was accepted for the session is not asked about again",
    async (t) => {
      const reports = await t.run(async (input) => {
        const own = await kit.session();
        const reports = [];
        for (let count = 0; count < 2; count += 1) {
          const turn = own.createTurn({ input });
          turn.on("tool.approval_required", () => setTimeout(() => void turn.answer(kit.answers(turn, kit.allow, { remember: true }))));
          reports.push(await kit.stream(turn));
        }
        return reports;
      }, `EXEC ${t.command}`);
      assert.deepEqual(t.answers().map(({ result }) => result), [{ decision: "acceptForSession" }]);
      assert.equal(t.heard("item/commandExecution/requestApproval").length, 1);
      assert.equal(t.runs, 2);
      for (const report of reports) {
        expectAnswered(report, report.messages.at(-1).content);
        assert.match(report.calls[0].response.content, /did-run/);
      }
      assert.deepEqual(reports.map(({ types }) => types.filter((type) => type === "tool.approval_required").length), [1, 0]);
    },
  ],
];
