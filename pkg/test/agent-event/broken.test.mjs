// Streams that fall silent, break off or end without an end: nothing is posted twice, and nothing received is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AbortError, IncompleteError } from "../../dist/index.js";
import { answer, begin, complete, EVENTS, finish, frames, items, LATEST, messagePage, MESSAGES, recordOf, RUN, runOf, runRecord, RUNS, say, serveAgent, serveRun, START, step, stored, STREAM } from "../support/agent-event.mjs";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { tellings, topics } from "../support/connection.mjs";
import { body, json, LiveStream, reset, silence, stream } from "../support/server.mjs";

const PART = [begin(), step(), say("par"), say("tial")];
const NOT_FOUND = json({ error: "run not found" }, 404);
const NO_EVENTS = { [EVENTS]: NOT_FOUND, [STREAM]: NOT_FOUND };
const RESETS = { "a clean end": (response) => response.end(), "a reset": (response) => response.socket.resetAndDestroy() };

for (const [how, end] of Object.entries(RESETS)) {
  test(`tirea: after ${how} the run's record is read, and the turn ends as incomplete with what came`, async (t) => {
    const { server, turn } = await serveRun(t, "tirea", runOf("tirea", PART, end), { [RUN]: recordOf({ status: "running", termination_code: undefined }) });
    const { events, error } = await collect(turn.stream());
    assert.ok(error instanceof IncompleteError, String(error));
    assert.equal(turn.status, "incomplete");
    assert.equal(textOf(turn), "partial");
    assert.deepEqual(events.filter((event) => event.content).map((event) => event.content), ["par", "tial"]);
    assert.deepEqual(server.asked, [START, ...Array(3).fill(`GET runs/${turn.id}`)]);
    assert.ok(turn.snapshot().error instanceof IncompleteError);
  });
}

test("tirea: another stream() after that only reads, and posts nothing", async (t) => {
  const { server, turn } = await serveRun(t, "tirea", runOf("tirea", PART), { [RUN]: recordOf({ status: "running" }) });
  await collect(turn.stream());
  const before = server.requests.length;
  const { error } = await collect(turn.stream());
  assert.ok(error instanceof IncompleteError, String(error));
  assert.equal(server.count(START), 1);
  assert.ok(server.requests.length > before);
  assert.equal(textOf(turn), "partial");
  assert.equal((await failure(turn.waitForCompletion())).code, "incomplete");
  assert.equal(server.count(START), 1);
});

test("tirea: a run that had ended meanwhile is done, with its messages from the list", async (t) => {
  const list = [
    stored(1, "user", "Hello"),
    stored(2, "assistant", "partial and whole", { id: "m1" }),
  ];
  const { server, turn } = await serveRun(t, "tirea", runOf("tirea", PART), { [RUN]: recordOf(), [MESSAGES]: messagePage(list) });
  const { events, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(turn.status, "done");
  assert.equal(textOf(turn), "partial and whole");
  assert.equal(events.at(-1).type, "turn.done");
  assert.equal(events.filter((event) => event.type === "turn.created").length, 1);
  assert.equal((await turn.waitForCompletion()).status, "done");
  assert.equal(server.count(START), 1);
  assert.equal(server.requests.find(({ path }) => path.endsWith("/messages")).query.run_id, turn.id);
});

test("tirea: a run that has ended by the second read is done as well", async (t) => {
  const looks = [recordOf({ status: "running" }), recordOf()];
  const list = [stored(2, "assistant", "partial!", { id: "m1" })];
  const { turn } = await serveRun(t, "tirea", runOf("tirea", PART), { [RUN]: looks, [MESSAGES]: messagePage(list) });
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.equal(textOf(turn), "partial!");
});

test("tirea: with reconnect: false there are no further requests", async (t) => {
  const { server, turn } = await serveRun(t, "tirea", runOf("tirea", PART), {}, { reconnect: false });
  const { error } = await collect(turn.stream());
  assert.ok(error instanceof IncompleteError, String(error));
  assert.deepEqual(server.asked, [START]);
  assert.equal(textOf(turn), "partial");
});

test("tirea: the caller's own idleTimeout ends it as incomplete, with one POST", async (t) => {
  const live = new LiveStream();
  const { server, turn } = await serveRun(t, "tirea", live.reply, { [RUN]: recordOf({ status: "running" }) }, { idleTimeout: 60 });
  const told = tellings(turn);
  const over = collect(turn.stream());
  await live.write(frames("tirea", PART));
  const { error } = await over;
  assert.equal(error.code, "incomplete");
  assert.equal(turn.status, "incomplete");
  assert.ok(topics(told).includes("idle"));
  assert.equal(textOf(turn), "partial");
  assert.equal(server.count(START), 1);
  assert.equal(await live.closed, true);
});

test("tirea: a call's idleTimeout wins over the client's", async (t) => {
  const { server, turn } = await serveRun(t, "tirea", silence, { [RUN]: NOT_FOUND }, { idleTimeout: 0, reconnect: false });
  const { error } = await collect(turn.stream({ idleTimeout: 40, connectTimeout: 60 }));
  assert.ok(["timeout", "incomplete"].includes(error.code), String(error));
  assert.equal(server.count(START), 1);
});

test("tirea: a start whose answer was lost is found by its id, and not posted again", async (t) => {
  const list = [stored(2, "assistant", "Hi", { id: "m1" })];
  const { server, turn } = await serveRun(t, "tirea", reset, { [RUN]: recordOf(), [MESSAGES]: messagePage(list) });
  const { error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(turn.id, server.requests[0].body.runId);
  assert.equal(textOf(turn), "Hi");
  assert.equal(server.count(START), 1);
});

test("tirea: a start that cannot be found anywhere is not posted again: it may yet arrive", async (t) => {
  const { server, turn } = await serveRun(t, "tirea", reset, { [RUN]: NOT_FOUND });
  const { error } = await collect(turn.stream());
  assert.ok(error, "it gave no error");
  assert.equal(server.count(START), 1);
  assert.equal(server.count(`GET runs/${server.requests[0].body.runId}`), 3);
});

test("awaken: a start whose answer was lost is looked for among the thread's runs", async (t) => {
  const runs = items([runRecord({ run_id: "r9", created_at: Date.now(), updated_at: Date.now() })]);
  const routes = { [RUNS.awaken]: runs, [RUN]: recordOf(), [MESSAGES]: messagePage([stored(2, "assistant", "Hi", { id: "m1" })]), ...NO_EVENTS };
  const { server, turn } = await serveRun(t, "awaken", reset, routes);
  const { error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(turn.id, "r9");
  assert.equal(textOf(turn), "Hi");
  assert.equal(server.count(START), 1);
});

/** Runs that other clients have started, by when in seconds before now, the newest last. */
const runsAgo = (...list) => list.map((seconds, at) => {
  const time = Math.floor(Date.now() / 1000) - seconds;
  return runRecord({ run_id: `r${at}`, created_at: time, updated_at: time });
});

for (const [name, before, after, id] of [
  ["the only new run is the one", [20, 3], [20, 3, 0], "r2"],
  ["in whatever order runs are listed", [20, 3], [0, 3, 20], "r0"],
  ["of several new runs none is taken", [20, 3], [20, 3, 1, 0], null],
  ["a run of the same second as the newest one is not taken", [20, 0], [20, 0, 0], null],
  ["where the newest run is not known none is taken", undefined, [20, 3], null],
]) {
  test(`awaken: a start in a thread that was only fetched, whose answer was lost: ${name}`, async (t) => {
    const list = runsAgo(...after);
    // Ids say nothing of an order.
    const newest = before && list.find(({ created_at }) => created_at === runsAgo(...before).at(-1).created_at);
    const { server, client } = await serveAgent(t, "awaken", {
      [LATEST]: newest ? json(newest) : json({ error: "internal error: no" }, 500), "GET threads/s1": json({ id: "s1" }), [START]: reset,
      [RUNS.awaken]: items(list), [RUN]: recordOf(), [MESSAGES]: messagePage([stored(2, "assistant", "Hi", { id: "m1" })]), ...NO_EVENTS,
    });
    const turn = (await client.agents.getSession("s1", { agentName: "assistant" })).createTurn({ input: "Hello" });
    const { error } = await collect(turn.stream());
    assert.deepEqual([turn.id, error?.code], [id, id ? undefined : "incomplete"]);
    assert.deepEqual([server.count(START), server.count("GET threads/s1/runs/latest")], [1, 1]);
  });
}

test("awaken: a start in a thread that was only fetched, which did not arrive, takes no run that was there", async (t) => {
  const list = runsAgo(20, 3);
  const { server, client } = await serveAgent(t, "awaken", {
    [LATEST]: json(list[1]), "GET threads/s1": json({ id: "s1" }), [START]: json({ error: "internal error: no" }, 500), [RUNS.awaken]: items(list),
  });
  const turn = (await client.agents.getSession("s1", { agentName: "assistant" })).createTurn({ input: "Hello" });
  const { error } = await collect(turn.stream());
  assert.deepEqual([turn.id, turn.status, error.status, server.count(START)], [null, "unstarted", 500, 1]);
});

const EMPTY = { "an empty stream": stream(), "an HTML page": body("<html>Hello</html>", { type: "text/html" }), "a 500": json({ error: "internal error: no" }, 500) };
for (const [how, start] of Object.entries(EMPTY)) {
  test(`tirea: a start that is answered with ${how} is posted once`, async (t) => {
    const { server, turn } = await serveRun(t, "tirea", start, { [RUN]: NOT_FOUND });
    const { error } = await collect(turn.stream());
    assert.ok(error, "it gave no error");
    assert.equal(server.count(START), 1);
  });
}

test("tirea: error and then the end of the stream is the end of the turn, in either shape of errors", async (t) => {
  const flat = `data: ${JSON.stringify({ type: "error", message: "relay broke", code: "RELAY_ERROR" })}\n\n`;
  const nested = frames("tirea", [["error", { message: "relay broke", code: "RELAY_ERROR" }]]);
  for (const last of [flat, nested]) {
    const { server, turn } = await serveRun(t, "tirea", stream(frames("tirea", PART), last));
    const { events, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    assert.equal(turn.status, "error");
    assert.equal(events.at(-1).type, "turn.done");
    assert.deepEqual(events.filter((event) => event.type === "server.error").map((event) => event.code), ["RELAY_ERROR"]);
    assert.match(turn.snapshot().state.message, /relay broke/);
    assert.deepEqual(server.asked, [START]);
  }
});

test("tirea: an error that run_finish follows is one failure", async (t) => {
  const list = [...PART, ["error", { message: "no key", code: "LLM_ERROR" }], ["run_finish", { termination: { type: "error", value: "no key" } }]];
  const { turn } = await serveRun(t, "tirea", runOf("tirea", list));
  const { events } = await collect(turn.stream());
  assert.equal(events.filter((event) => event.type === "turn.done").length, 1);
  assert.match(turn.snapshot().state.message, /no key/);
});

test("tirea: an unknown termination is an error that names it", async (t) => {
  const { turn } = await serveRun(t, "tirea", runOf("tirea", [...PART, finish("evaporated")]));
  await collect(turn.stream());
  assert.equal(turn.status, "error");
  assert.match(turn.snapshot().state.message, /evaporated/);
});

test("tirea: a run that fails before run_start is still a turn that has ended", async (t) => {
  const list = [["error", { message: "no such model" }], ["run_finish", { termination: { type: "error", value: "no such model" } }]];
  const { turn, server } = await serveRun(t, "tirea", runOf("tirea", list));
  const { error } = await collect(turn.stream());
  assert.equal(error, undefined);
  assert.equal(turn.status, "error");
  assert.equal(server.count(START), 1);
});

test("tirea: new types are delivered as unknown, and break nothing", async (t) => {
  const list = [begin(), ["weather_report", { sun: true }], step(), ["text_delta", { delta: 7 }], say("Hi"), complete(), finish()];
  const { turn } = await serveRun(t, "tirea", runOf("tirea", list));
  const { events, error } = await collect(turn.stream());
  assert.equal(error, undefined);
  const unknown = events.filter((event) => event.type === "unknown");
  assert.deepEqual(unknown.map((event) => event.wire_type), ["weather_report", "text_delta"]);
  assert.deepEqual(unknown[0].raw.data, { sun: true });
  assert.equal(textOf(turn), "Hi");
});

test("tirea: an attempt in which a call had begun does not count", async (t) => {
  const list = [
    begin(), step("a"), say("void "), ["tool_call_start", { id: "cut", name: "x" }], ["step_end"],
    step("b"), say("Whole."), complete(), ["step_end"], finish("natural_end", { result: { response: "Whole." } }),
  ];
  const { turn } = await serveRun(t, "tirea", runOf("tirea", list));
  const { events } = await collect(turn.stream());
  assert.equal(textOf(turn), "Whole.");
  const { messages } = turn.snapshot().threads[0];
  assert.deepEqual(messages.map(({ id, tool_calls }) => [id, tool_calls.length]), [["b", 0]]);
  assert.ok(events.some((event) => event.type === "message.reset" && event.id === "b"), events.map((event) => event.type).join());
});

test("tirea: an abort loses the run: the error says so, and nothing more is sent", async (t) => {
  const live = new LiveStream();
  const { server, turn } = await serveRun(t, "tirea", live.reply);
  const controller = new AbortController();
  const over = collect(turn.stream({ signal: controller.signal }));
  await live.write(frames("tirea", PART));
  await eventually(() => turn.status === "running" && turn.snapshot().threads[0].messages[0]?.content === "partial");
  controller.abort(new Error("enough"));
  const { error } = await over;
  assert.ok(error instanceof AbortError, String(error));
  assert.equal(error.cause.message, "enough");
  assert.equal(turn.status, "incomplete");
  assert.equal(textOf(turn), "partial");
  assert.equal(await live.closed, true);
  assert.deepEqual(server.asked, [START]);
});

test("tirea: leaving the loop while the run streams leaves an incomplete turn", async (t) => {
  const live = new LiveStream();
  const { turn } = await serveRun(t, "tirea", live.reply);
  const loop = (async () => {
    for await (const event of turn.stream()) if (event.type === "model.message.delta") break;
  })();
  await live.write(frames("tirea", PART));
  await loop;
  assert.equal(turn.status, "incomplete");
  assert.equal(turn.snapshot().error, null);
});

test("tirea: an abort before anything was sent lets the turn be started later", async (t) => {
  const { server, turn } = await serveRun(t, "tirea", runOf("tirea", answer("Hi")));
  const { error } = await collect(turn.stream({ signal: AbortSignal.abort() }));
  assert.equal(error.code, "aborted");
  assert.deepEqual([turn.status, server.asked], ["unstarted", []]);
  assert.equal((await collect(turn.stream())).error, undefined);
});

test("awaken: an abort says that the turn goes on, and a later stream reads the rest", async (t) => {
  const live = new LiveStream();
  const routes = { [RUN]: recordOf(), [MESSAGES]: messagePage([stored(2, "assistant", "partial, whole", { id: "m1" })]), ...NO_EVENTS };
  const { server, turn } = await serveRun(t, "awaken", live.reply, routes);
  const controller = new AbortController();
  const over = collect(turn.stream({ signal: controller.signal }));
  await live.write(frames("awaken", PART));
  await eventually(() => turn.snapshot().threads[0].messages[0]?.content === "partial");
  controller.abort();
  assert.equal((await over).error.code, "aborted");
  assert.equal(turn.status, "running");
  assert.equal((await collect(turn.stream())).error, undefined);
  assert.equal(textOf(turn), "partial, whole");
  assert.equal(server.count(START), 1);
});

test("tirea: a wait that is given up does not stop the run, which is still read", async (t) => {
  const live = new LiveStream();
  const { server, turn } = await serveRun(t, "tirea", live.reply);
  const controller = new AbortController();
  const waiting = failure(turn.waitForCompletion({ signal: controller.signal }));
  await live.write(frames("tirea", PART));
  await eventually(() => turn.status === "running");
  controller.abort();
  assert.equal((await waiting).code, "aborted");
  assert.equal(turn.status, "running");
  await live.write(frames("tirea", [complete(), finish()]));
  assert.equal((await turn.waitForCompletion()).status, "done");
  assert.equal(textOf(turn), "partial");
  assert.equal(server.count(START), 1);
});

test("tirea: a stream that takes longer than its deadline is lost, and says why", async (t) => {
  const live = new LiveStream();
  const { server, turn } = await serveRun(t, "tirea", live.reply);
  const over = collect(turn.stream({ deadline: 80 }));
  await live.write(frames("tirea", PART));
  const { error } = await over;
  assert.match(error.message, /deadline/);
  assert.equal(textOf(turn), "partial");
  assert.equal(turn.status, "incomplete");
  assert.equal(server.count(START), 1);
});

test("tirea: two callers that wait for the end and one that reads the state start one run", async (t) => {
  const { server, turn } = await serveRun(t, "tirea", runOf("tirea", answer("Hi")), { [RUN]: recordOf() });
  const [one, two, three] = await Promise.all([turn.waitForCompletion(), turn.waitForCompletion(), turn.state()]);
  assert.deepEqual([one.status, two.status, three.status], ["done", "done", "done"]);
  assert.equal(server.count(START), 1);
});
