// Turns that the agent answers: text, reasoning, tools.
import { COMES_AS_SPOKEN } from "../../spoken.mjs";
import assert from "node:assert/strict";
import { expectAnswered, expectSound, GREETING, joined, last, storedBy } from "./expect.mjs";

/** Plays one turn in a new session of an agent. */
const play = (t, input, agent = "assistant") =>
  t.run(async ({ input, agent }) => kit.play(await kit.session(agent), input), { input, agent });

/** The results that the server keeps, by call. */
const storedResults = (messages) => new Map(storedBy(messages, "tool").map((message) => [message.tool_call_id, message.content]));

export const answers = [
  [
    "text: the received text is what the server sent and keeps",
    async (t) => {
      const report = await play(t, "hello");
      expectAnswered(t, report);
      assert.equal(report.text, GREETING);
      const { messages, runs } = await t.stored(report.session);
      assert.deepEqual(messages.map(({ role, content }) => [role, content]), [["user", "hello"], ["assistant", GREETING]]);
      assert.equal(report.messages[0].id, messages[1].id);
      assert.ok(messages[0].id, "the user's message has an id of the client's");
      assert.deepEqual([runs.length, runs[0].run_id, runs[0].status], [1, report.id, "done"]);
      const { usage } = report.messages[0];
      assert.deepEqual([usage.input_tokens, usage.output_tokens], [42, 17]);
      assert.deepEqual([runs[0].input_tokens, runs[0].output_tokens], [42, 17]);
      assert.deepEqual([report.types[0], report.types.at(-1)], ["turn.created", "turn.done"]);
      assert.deepEqual(report.snapshot.input.map(({ type, content }) => [type, content]), [["user.message", "hello"]]);
    },
  ],
  COMES_AS_SPOKEN,
  [
    "text: five thousand words at full speed",
    async (t) => {
      const report = await play(t, "SAY word 5000 0");
      expectAnswered(t, report);
      assert.equal(report.text.split(" ").length, 5001);
      assert.equal((await t.stored(report.session)).messages[1].content, report.text);
    },
  ],
  [
    "text: waiting only for the end has the same result",
    async (t) => {
      const { state, report } = await t.run(async () => {
        const turn = (await kit.session()).createTurn({ input: "SAY tok 5 10" });
        return { state: await turn.waitForCompletion(), report: kit.report(turn) };
      });
      assert.equal(state.status, "done");
      assert.equal(state.output.content, joined(t.frames(report.session), "text_delta"));
      assert.equal(report.text, state.output.content);
      assert.equal(t.starts(report.session).length, 1);
    },
  ],
  [
    "text: a session is made without a request, and its turns follow each other",
    async (t) => {
      const before = t.requests("POST", /./).length;
      const { id, reports } = await t.run(async () => {
        const own = await kit.session();
        const reports = [];
        for (const input of ["hello", "SAY again 3 1"]) reports.push(await kit.play(own, input));
        return { id: own.id, reports };
      });
      assert.equal(t.requests("POST", /./).length, before + 2);
      expectAnswered(t, reports[1], { at: 1 });
      assert.equal(t.starts(id)[1].body.parentRunId, reports[0].id);
      const { messages, runs } = await t.stored(id);
      assert.deepEqual(messages.map(({ role }) => role), ["user", "assistant", "user", "assistant"]);
      assert.equal(new Set(messages.map((message) => message.id)).size, 4);
      assert.equal(messages[3].content, reports[1].text);
      assert.deepEqual(runs.map(({ run_id, parent_run_id }) => [run_id, parent_run_id]), [[reports[0].id, undefined], [reports[1].id, reports[0].id]]);
    },
  ],
  [
    "reasoning: separate from the answer",
    async (t) => {
      const report = await play(t, "REASONING");
      expectAnswered(t, report);
      const [message] = report.messages;
      assert.equal(message.reasoning_content, "Let me think. The user greets, so I greet. ☃");
      assert.equal(message.reasoning_content, joined(t.frames(report.session), "reasoning_delta"));
      assert.equal(message.content, GREETING);
    },
  ],
  [
    "tools: one call, its result, and the answer",
    async (t) => {
      const report = await play(t, "TOOL please");
      expectAnswered(t, report);
      assert.equal(report.calls.length, 1);
      const [call] = report.calls;
      assert.deepEqual([call.name, call.arguments, call.status], ["serverInfo", "{}", "done"]);
      const { messages } = await t.stored(report.session);
      assert.equal(call.response.content, storedResults(messages).get(call.id));
      const [done] = report.events.filter(({ type }) => type === "tool.response");
      assert.equal(done.outcome, "succeeded");
      assert.deepEqual(done.result, JSON.parse(call.response.content));
      assert.equal(done.result.data.server, "tirea-agentos");
      assert.match(report.text, /^Tool said: .*tirea-agentos/);
      assert.deepEqual(report.messages.map(({ id }) => id), storedBy(messages, "assistant").map(({ id }) => id));
      assert.deepEqual(report.messages.map(({ finish_reason }) => finish_reason), ["tool_calls", "stop"]);
    },
  ],
  [
    "tools: two calls at once, one fails",
    async (t) => {
      const report = await play(t, "TWO");
      expectAnswered(t, report);
      assert.deepEqual(report.calls.map(({ name, status, index }) => [name, status, index]), [["serverInfo", "done", 0], ["failingTool", "done", 1]]);
      const results = storedResults((await t.stored(report.session)).messages);
      for (const call of report.calls) assert.equal(call.response.content, results.get(call.id));
      assert.deepEqual(report.events.filter(({ type }) => type === "tool.response").map(({ outcome }) => outcome), ["succeeded", "failed"]);
      assert.match(report.calls[1].response.content, /always fails/);
    },
  ],
  [
    "tools: an unknown one fails, with its arguments whole",
    async (t) => {
      const report = await play(t, "NOSUCH please");
      expectAnswered(t, report);
      assert.deepEqual(JSON.parse(report.calls[0].arguments), { location: "Bern" });
      assert.match(report.calls[0].response.content, /'doesNotExist' not found/);
    },
  ],
  [
    "tools: text before a call, in one message",
    async (t) => {
      const report = await play(t, "MIXED");
      expectAnswered(t, report);
      assert.equal(report.messages[0].content, "Let me look. ");
      assert.equal(report.messages[0].tool_calls.length, 1);
      const stored = storedBy((await t.stored(report.session)).messages, "assistant");
      assert.deepEqual(report.messages.map(({ content }) => content), stored.map(({ content }) => content));
    },
  ],
  [
    "tools: an agent that stops at one",
    async (t) => {
      const report = await play(t, "FINISH please", "stopper");
      expectSound(t, report);
      assert.equal(report.status, "done");
      assert.deepEqual(report.snapshot.state.termination, { type: "stopped", value: { code: "tool_called", detail: "finish" } });
      assert.deepEqual(JSON.parse(report.calls[0].arguments), { summary: "all done" });
      assert.equal(JSON.parse(report.calls[0].response.content).data.summary, "all done");
    },
  ],
  [
    "tools: an agent that only calls is stopped",
    async (t) => {
      const report = await play(t, "LOOP");
      expectSound(t, report);
      assert.equal(report.status, "done");
      assert.equal(report.snapshot.state.termination.value.code, "max_rounds_reached");
      assert.ok(report.calls.length > 5 && report.calls.every(({ status }) => status === "done"));
      const results = storedResults((await t.stored(report.session)).messages);
      assert.deepEqual(report.calls.map((call) => call.response.content), report.calls.map(({ id }) => results.get(id)));
    },
  ],
  [
    "many: eight turns at once, none with another one's text",
    async (t) => {
      const reports = await t.run(async () => {
        const client = await kit.client();
        const one = async (word) => kit.play(await client.agents.createSession("assistant"), `SAY ${word} 30 10`);
        return Promise.all(["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"].map(one));
      });
      for (const [at, word] of ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"].entries()) {
        const own = Array.from({ length: 30 }, (_, number) => `${word}-${String(number).padStart(2, "0")} `).join("");
        assert.equal(reports[at].text, own);
        expectAnswered(t, reports[at]);
        const { messages } = await t.stored(reports[at].session);
        assert.equal(messages.at(-1).content, own);
      }
      // The trap of this case must have been there: ids of other runs on frames of this one.
      const leaked = reports.flatMap(({ session, id }) => t.frames(session).filter(({ run_id }) => run_id !== undefined && run_id !== id));
      assert.ok(leaked.length > 0, "the server mixed no envelopes");
    },
  ],
  [
    "retry: a provider that breaks off within text is asked to go on, in one message",
    async (t) => {
      const report = await play(t, `CUT ${t.id}`);
      expectAnswered(t, report);
      assert.equal(report.text, `partial text ${GREETING}`);
      const stored = storedBy((await t.stored(report.session)).messages, "assistant");
      assert.equal(stored.map(({ content }) => content).join(""), report.text);
    },
  ],
  [
    "retry: when a call breaks off, the whole attempt is discarded",
    async (t) => {
      const report = await play(t, `CUTTOOL ${t.id}`);
      expectSound(t, report);
      assert.equal(report.status, "done");
      assert.match(joined(t.frames(report.session), "text_delta"), /^partial Tool said: /);
      const { messages } = await t.stored(report.session);
      const stored = storedBy(messages, "assistant");
      assert.deepEqual(report.messages.map(({ id, content }) => [id, content]), stored.map(({ id, content }) => [id, content]));
      assert.deepEqual(report.calls.map(({ id, status }) => [id, status]), [...storedResults(messages).keys()].map((id) => [id, "done"]));
      assert.match(report.text, /^Tool said: .*tirea-agentos/);
    },
  ],
  [
    "retry: a provider that is busy once",
    async (t) => {
      const report = await play(t, `FLAKY ${t.id}`);
      expectAnswered(t, report);
      assert.equal(report.text, GREETING);
      assert.equal(last(t.frames(report.session), "error"), undefined);
    },
  ],
  [
    "retry: an answer that was too long goes on",
    async (t) => {
      const report = await play(t, `LENGTH ${t.id}`);
      expectAnswered(t, report);
      assert.equal(report.messages.map(({ content }) => content).join(""), `This goes on and${GREETING}`);
    },
  ],
];
