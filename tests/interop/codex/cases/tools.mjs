// What the page itself answers: calls of its tools, and questions.
import assert from "node:assert/strict";
import { expectAnswered } from "./expect.mjs";

/** A tool of the page, as it is declared to the server. */
const CLOCK = {
  type: "function",
  name: "clock",
  description: "The time in a zone",
  inputSchema: { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] },
};

const plan = { collaborationMode: { mode: "plan", settings: { model: "mock-1", reasoning_effort: null, developer_instructions: null } } };
const QUESTION = {
  questions: [
    { id: "color", header: "Color", question: "Which one?", options: [{ label: "Red", description: "warm" }, { label: "Blue", description: "cold" }] },
  ],
};

/** Runs `CALL clock` with this tool in a page; `again` runs it again after a reload. */
const runClock = (t, id) =>
  t.run(
    async ({ tool, id }) => {
      const client = await kit.client();
      const own = id ? await client.agents.getSession(id) : await client.agents.createSession("codex", { sessionOptions: { dynamicTools: [tool] } });
      const ran = [];
      const run = ({ zone }, { callId }) => {
        ran.push([zone, callId]);
        if (zone === "Nowhere") throw new Error("no such zone");
        return { time: "noon", zone };
      };
      own.tools({ clock: { description: tool.description, parameters: tool.inputSchema, run } });
      const reports = [];
      const play = async (input) => {
        const run = own.run(input);
        for await (const turn of run) reports.push(await kit.stream(turn));
        return run.reason;
      };
      const reasons = [await play('CALL clock {"zone":"Rome"}'), await play('CALL clock {"zone":"Nowhere"}')];
      return { id: own.id, ran, reports, reasons };
    },
    { tool: CLOCK, id },
  );

function expectClock(t, { ran, reports, reasons }) {
  assert.deepEqual(reasons, ["done", "done"]);
  assert.equal(reports.length, 2, "the result goes to the turn that runs");
  assert.deepEqual(ran.map(([zone]) => zone), ["Rome", "Nowhere"]);
  const results = ['{"time":"noon","zone":"Rome"}', "Tool execution failed: no such zone"];
  for (const [at, report] of reports.entries()) {
    const [call] = report.calls;
    assert.deepEqual([call.id, call.name, call.status], [ran[at][1], "clock", "done"]);
    assert.deepEqual(JSON.parse(call.arguments), { zone: ran[at][0] });
    assert.equal(call.response.content, results[at]);
    assert.equal(report.calls.length, 1);
    expectAnswered(report, `Tool said: ${results[at]}`);
  }
}

export const tools = [
  [
    "tools: the page's tools run during the turn",
    async (t) => {
      const played = await runClock(t);
      expectClock(t, played);
      assert.equal(t.sent("turn/start").length, 2);
      assert.deepEqual(t.answers().map(({ result }) => result.success), [true, true]);
    },
  ],
  [
    "tools: the server keeps them with the thread, for a page that comes later",
    async (t) => {
      const { id } = await runClock(t);
      await t.page.reloadAll();
      expectClock(t, await runClock(t, id));
    },
  ],
  [
    "question: the server asks, and goes on with the answer",
    async (t) => {
      const { asked, report } = await t.run(
        async ({ input, turnOptions }) => {
          const turn = (await kit.session()).createTurn({ input, turnOptions });
          const streamed = kit.stream(turn);
          await kit.until(() => turn.snapshot().required_actions.length > 0);
          const asked = kit.report(turn);
          const [{ thread_id, tool_call_id }] = turn.snapshot().required_actions;
          await turn.answer({ type: "user.tool_response", thread_id, tool_call_id, content: "Blue" });
          return { asked, report: await streamed };
        },
        { input: `CALL request_user_input ${JSON.stringify(QUESTION)}`, turnOptions: plan },
      );
      const [action] = asked.snapshot.required_actions;
      assert.deepEqual([action.type, action.suspension.action], ["tool.response_required", "item/tool/requestUserInput"]);
      const [question] = action.suspension.parameters.questions;
      assert.deepEqual([question.id, question.question, question.options.map(({ label }) => label)], ["color", "Which one?", ["Red", "Blue"]]);
      assert.deepEqual(t.answers().map(({ result }) => result), [{ answers: { color: { answers: ["Blue"] } } }]);
      expectAnswered(report, report.messages.at(-1).content);
      assert.match(report.text, /^Tool said: .*Blue/);
      assert.equal(report.types.filter((type) => type === "tool.resumed").length, 1);
    },
  ],
];
