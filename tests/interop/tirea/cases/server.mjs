// What the real server does, read with nothing but `fetch` in a page: the facts that the package relies on, and
// that the relay passes them.
import assert from "node:assert/strict";
import { pause } from "../../parts.mjs";
import { GREETING, joined } from "./expect.mjs";

const collect = async (body) => {
  const frames = [];
  for await (const frame of kit.raw(body)) frames.push(frame);
  return frames;
};

const user = (content, id) => ({ id, role: "user", content });

export const server = [
  [
    "server: a run comes as it happens, from run_start to run_finish",
    async (t) => {
      const body = { agentId: "assistant", threadId: t.id, runId: `${t.id}-run`, messages: [user("SAY tok 10 50", `${t.id}-m`)] };
      const came = await t.run(async (body) => {
        const came = [];
        for await (const { type, data } of kit.raw(body)) came.push({ type, data, at: performance.now() });
        return came;
      }, body);
      const deltas = came.filter(({ type }) => type === "text_delta");
      assert.equal(deltas.length, 10);
      const spread = deltas.at(-1).at - deltas[0].at;
      assert.ok(spread > 300, `ten tokens with 50 ms between them came within ${spread} ms`);
      assert.equal(came[0].type, "run_start");
      assert.deepEqual(came.at(-1).data, { result: { response: joined(came, "text_delta") }, termination: { type: "natural_end" } });
      const { messages, runs } = await t.stored(t.id);
      assert.deepEqual(messages.map(({ role }) => role), ["user", "assistant"]);
      assert.equal(messages[0].id, `${t.id}-m`);
      assert.equal(messages[1].content, joined(came, "text_delta"));
      assert.deepEqual(runs.map(({ run_id, status }) => [run_id, status]), [[`${t.id}-run`, "done"]]);
    },
  ],
  [
    "server: a run that its reader leaves is lost",
    async (t) => {
      const body = { agentId: "assistant", threadId: t.id, runId: `${t.id}-run`, messages: [user("SLOW 20 50")] };
      await t.run(async (body) => {
        const leaving = new AbortController();
        for await (const { type } of kit.raw(body, leaving.signal)) if (type === "text_delta") break;
        leaving.abort();
      }, body);
      await t.until(() => t.starts(t.id)[0].end === "left", "the end of the request");
      const left = t.starts(t.id)[0].text.length;
      // The server notices when it next writes; until then it could still be cancelled.
      await pause(500);
      const { error } = await t.ask(`/v1/runs/${t.id}-run/cancel`, { method: "POST", status: 400 });
      assert.match(error, /not active/);
      assert.equal(t.starts(t.id)[0].text.length, left);
      const { messages, runs } = await t.stored(t.id);
      assert.equal(messages.some(({ role }) => role === "assistant"), false);
      assert.equal(runs[0].status, "running");
    },
  ],
  [
    "server: the model's errors end runs",
    async (t) => {
      for (const [text, message] of [["ERR401", /Status: 401/], ["ERR500", /exploded/], ["EMPTY", /empty stream/]]) {
        const body = { agentId: "assistant", threadId: `${t.id}-${text}`, messages: [user(text)] };
        const frames = await t.run(collect, body);
        const [error, finish] = frames.slice(-2);
        assert.equal(error.data.code, "LLM_ERROR", text);
        assert.match(error.data.message, message);
        assert.deepEqual(finish.data.termination, { type: "error", value: error.data.message });
      }
    },
  ],
  [
    "server: a call that waits for consent",
    async (t) => {
      const body = { agentId: "approver", threadId: t.id, messages: [user("TOOL please")] };
      const frames = await t.run(collect, body);
      assert.deepEqual(frames.at(-1).data.termination, { type: "suspended" });
      const call = frames.find(({ type }) => type === "tool_call_start").data.id;
      const { suspended_call } = frames.findLast(({ type }) => type === "state_snapshot").data.snapshot.__tool_call_scope[call];
      assert.equal(suspended_call.suspension.id, `fc_${call}`);
      const decisions = [{ target_id: call, action: "cancel", reason: "not today" }];
      const resumed = await t.run(collect, { agentId: "approver", threadId: t.id, decisions });
      const done = resumed.find(({ type }) => type === "tool_call_done").data;
      assert.equal(done.id, call);
      assert.deepEqual([done.outcome, done.result.message], ["failed", "not today"]);
      assert.match(resumed.at(-1).data.result.response, /not today/);
    },
  ],
  [
    "server: a message whose id is known is dropped, and the run runs",
    async (t) => {
      const start = (content) => t.run(collect, { agentId: "assistant", threadId: t.id, messages: [user(content, `${t.id}-m`)] });
      await start("hello");
      const frames = await start("SAY changed 3 1");
      assert.deepEqual(frames.at(-1).data.termination, { type: "natural_end" });
      assert.equal(joined(frames, "text_delta"), GREETING, "the model has read the first text again");
      const { messages } = await t.stored(t.id);
      assert.deepEqual(messages.map(({ role, content }) => [role, content]), [["user", "hello"], ["assistant", GREETING], ["assistant", GREETING]]);
    },
  ],
];
