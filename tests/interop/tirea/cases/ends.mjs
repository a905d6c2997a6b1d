// Turns that end early, by either side.
import assert from "node:assert/strict";
import { pause } from "../../parts.mjs";
import { expectSound, GREETING, joined } from "./expect.mjs";

/** The server's own words to the agent after a run was cancelled; no user has sent them. */
const INTERRUPTED = /^The previous run was interrupted/;

const recordOf = async (t, report) => (await t.stored(report.session)).runs.find(({ run_id }) => run_id === report.id);

export const ends = [
  [
    "cancel: the turn ends at once, and the received text stays",
    async (t) => {
      const report = await t.run(async () =>
        kit.streamUntil((await kit.session()).createTurn({ input: "SLOW 100 30" }), 3, (turn) => turn.cancel()),
      );
      expectSound(t, report);
      assert.deepEqual([report.error, report.status], [null, "cancelled"]);
      assert.equal(report.snapshot.state.status, "cancelled");
      assert.equal(report.text, joined(t.frames(report.session), "text_delta"));
      assert.match(report.text, /^tok00 tok01 /);
      const { messages } = await t.stored(report.session);
      assert.equal(messages.some(({ role }) => role === "assistant"), false, "the server keeps no part of the text");
      assert.equal((await recordOf(t, report)).termination_code, "cancelled");
      assert.equal(t.requests("POST", new RegExp(`/v1/runs/${report.id}/cancel`)).length, 1);
    },
  ],
  [
    "cancel: the server's note to its agent is no message of the user",
    async (t) => {
      const { id, next, inputs } = await t.run(async () => {
        const own = await kit.session();
        await kit.streamUntil(own.createTurn({ input: "SLOW 100 30" }), 3, (turn) => turn.cancel());
        const next = await kit.play(own, "hello");
        const turns = await (await kit.reopen(own.id)).history();
        return { id: own.id, next, inputs: kit.plain(turns.flatMap((turn) => turn.snapshot().input.map(({ content }) => content))) };
      });
      assert.equal(next.text, GREETING);
      const { messages } = await t.stored(id);
      assert.ok(messages.some(({ role, content }) => role === "user" && INTERRUPTED.test(content)), "the server keeps the note");
      assert.deepEqual(inputs, ["SLOW 100 30", "hello"]);
    },
  ],
  [
    "interrupt: the turn ends, and the session goes on",
    async (t) => {
      const { report, next } = await t.run(async () => {
        const own = await kit.session();
        const report = await kit.streamUntil(own.createTurn({ input: "SLOW 100 30" }), 3, () => own.interrupt());
        return { report, next: await kit.play(own, "hello") };
      });
      assert.deepEqual([report.error, report.status], [null, "cancelled"]);
      assert.equal(report.text, joined(t.frames(report.session), "text_delta"));
      assert.equal(next.text, GREETING);
      assert.equal(t.requests("POST", new RegExp(`/v1/threads/${report.session}/interrupt`)).length, 1);
    },
  ],
  [
    "silence: a model that says nothing more can be cancelled",
    async (t) => {
      const report = await t.run(async () =>
        kit.streamUntil((await kit.session()).createTurn({ input: "HANG 2" }), 2, async (turn) => {
          await new Promise((resolve) => setTimeout(resolve, 500));
          await turn.cancel();
        }),
      );
      assert.deepEqual([report.error, report.status, report.text], [null, "cancelled", "tok00 tok01 "]);
    },
  ],
  ...[
    ["ERR401", /Status: 401/],
    ["ERR500", /mock upstream exploded/],
    ["EMPTY", /empty stream response/],
  ].map(([input, message]) => [
    `error: the model's provider fails (${input})`,
    async (t) => {
      const report = await t.run(async (input) => kit.play(await kit.session(), input), input);
      expectSound(t, report);
      assert.deepEqual([report.error, report.status], [null, "error"]);
      assert.match(report.snapshot.state.message, message);
      assert.equal(report.snapshot.state.code, "LLM_ERROR");
      assert.equal(report.types.filter((type) => type === "turn.done").length, 1);
      const record = await recordOf(t, report);
      assert.deepEqual([record.status, record.termination_code], ["done", "error"]);
    },
  ]),
  [
    "error: an unknown agent",
    async (t) => {
      const report = await t.run(async () => kit.play(await kit.session("nobody"), "hello"));
      assert.equal(report.status, "unstarted");
      assert.deepEqual([report.error.code, report.error.status, report.error.typed], ["http", 404, true]);
      assert.match(report.error.message, /agent not found: nobody/);
    },
  ],
  [
    "superseded: a turn whose session was given another message ends by that",
    async (t) => {
      const { first, second } = await t.run(async () => {
        const own = await kit.session();
        const turn = own.createTurn({ input: "SLOW 100 30" });
        const streamed = kit.stream(turn);
        await kit.until(() => kit.eventsOf(turn).filter(({ type }) => type === "model.message.delta").length >= 3);
        // As from another tab.
        const second = await kit.play(await kit.reopen(own.id), "hello");
        return { first: await streamed, second };
      });
      assert.equal(first.error, null);
      assert.ok(["cancelled", "error"].includes(first.status), first.status);
      assert.equal(first.text, joined(t.frames(first.session), "text_delta"));
      assert.equal(t.starts(first.session).length, 2);
      assert.equal(second.status, "done");
      assert.equal(second.text, GREETING);
      const { messages } = await t.stored(first.session);
      assert.equal(messages.at(-1).content, GREETING);
    },
  ],
  [
    "drop: a stream that breaks is incomplete, and nothing is sent again",
    async (t) => {
      await t.run(async () => {
        kit.turn = (await kit.session()).createTurn({ input: "SLOW 100 30" });
        kit.streamed = kit.stream(kit.turn);
        await kit.until(() => kit.eventsOf(kit.turn).filter(({ type }) => type === "model.message.delta").length >= 3);
      });
      const thread = await t.run(() => kit.turn.session.id);
      const relayed = t.relayed("POST /v1/runs");
      t.starts(thread)[0].cut();
      const report = await t.run(() => kit.streamed);
      assert.equal(report.status, "incomplete");
      assert.deepEqual([report.error?.code, report.error?.name], ["incomplete", "IncompleteError"]);
      assert.ok(report.agrees);
      // Nothing that was read is lost, and nothing is invented.
      assert.ok(report.text.startsWith("tok00 tok01 ") && joined(t.frames(thread), "text_delta").startsWith(report.text), report.text);
      await pause(1500);
      assert.equal(t.relayed("POST /v1/runs"), relayed);
      assert.equal(t.starts(thread).length, 1);
      const record = await recordOf(t, report);
      assert.equal(record.status, "running", "the server does not know that the run is lost");
      const next = await t.run(async () => kit.play(kit.turn.session, "hello"));
      assert.deepEqual([next.status, next.text], ["done", GREETING]);
      assert.equal(t.starts(thread).length, 2);
    },
  ],
  [
    "drop: a start whose answer is lost is looked for, and not sent again",
    async (t) => {
      const thread = await t.run(async () => {
        const own = await kit.session();
        kit.turn = own.createTurn({ input: "SLOW 100 30" });
        return own.id;
      });
      t.lose(thread);
      const report = await t.run(() => kit.stream(kit.turn));
      assert.equal(t.starts(thread).length, 1);
      assert.deepEqual([report.status, report.error?.code], ["incomplete", "incomplete"]);
      assert.equal(report.id, t.starts(thread)[0].body.runId);
      assert.ok(t.requests("GET", new RegExp(`/v1/runs/${report.id}`)).length > 0, "the run was looked for");
    },
  ],
  [
    "busy: a start that was refused is sent again as it was",
    async (t) => {
      const thread = await t.run(async () => {
        const own = await kit.session();
        kit.turn = own.createTurn({ input: "hello" });
        return own.id;
      });
      t.refuse(thread);
      const report = await t.run(() => kit.stream(kit.turn));
      assert.deepEqual([report.error, report.status, report.text], [null, "done", GREETING]);
      const [first, second, ...more] = t.starts(thread);
      assert.deepEqual([first.status, second.status, more.length], [503, 200, 0]);
      assert.deepEqual(second.body, first.body);
      const { messages, runs } = await t.stored(thread);
      assert.deepEqual([messages.length, runs.length], [2, 1]);
    },
  ],
  [
    "drop: an aborted read reports that the run is lost",
    async (t) => {
      const report = await t.run(async () => {
        const turn = (await kit.session()).createTurn({ input: "SLOW 100 30" });
        const leaving = new AbortController();
        const streamed = kit.stream(turn, { signal: leaving.signal });
        await kit.until(() => kit.eventsOf(turn).length >= 4);
        leaving.abort();
        return streamed;
      });
      assert.deepEqual([report.error?.code, report.status], ["aborted", "incomplete"]);
      await t.until(() => t.starts(report.session)[0].end === "left", "the end of the request");
    },
  ],
  [
    "drop: a page that is left ends its request",
    async (t) => {
      const thread = await t.run(async () => {
        const turn = (await kit.session()).createTurn({ input: "SLOW 100 30" });
        void kit.stream(turn);
        await kit.until(() => kit.eventsOf(turn).length >= 3);
        return turn.session.id;
      });
      await t.page.goto("about:blank");
      await t.until(() => t.starts(thread)[0].end === "left", "the end of the request");
      // The case's page is expected to have the package.
      await t.page.reloadAll();
    },
  ],
];
