// Long turns whose history is read: waiting is not failing. The clock is mocked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { AGENT, assistant, frame, result, use, user } from "../support/aap.mjs";
import { collect, textOf } from "../support/collect.mjs";
import { tellings, topics } from "../support/connection.mjs";

const MINUTE = 60_000;

/** Runs everything that needs no time. */
async function settle() {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * A session on a server whose history is what `history(seconds, looks)` returns after this many seconds and looks:
 * messages, or a `Response`. Time stands still until `pass` is called.
 */
async function stillSession(t, history, { turn, ...options } = {}) {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.now() });
  t.mock.method(Math, "random", () => 0.5);
  const began = Date.now();
  const looks = [];
  const starts = [];
  const fetch = async (url, { method, signal }) => {
    const path = url.split("/v1/")[1].split("?")[0];
    if (path === "meta") return Response.json({ version: 3, agents: [AGENT] });
    if (path === "sessions/s1") return Response.json({ sessionId: "s1", agent: { name: "assistant" } });
    if (method === "POST") {
      starts.push(path);
      return turn(signal, starts.length);
    }
    looks.push(Date.now() - began);
    const answer = await history((Date.now() - began) / 1000, looks.length);
    return answer instanceof Response ? answer : Response.json({ history: { full: answer } });
  };
  const client = await connect({ baseUrl: "http://server/v1", protocol: "aap", fetch, ...options });
  const session = await client.agents.getSession("s1");
  /** Lets this much time pass for timers. */
  const pass = async (time) => {
    for (let left = time; left > 0; left -= 250) {
      t.mock.timers.tick(Math.min(left, 250));
      await settle();
    }
  };
  return { session, looks, starts, pass };
}

/** How a stream breaks off. */
const BREAKS = {
  reset: (controller) => controller.error(new TypeError("the connection broke")),
  end: (controller) => controller.close(),
};

/** A stream that says "Hel", and breaks off after a second. */
function broken(how) {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(frame("turn_start") + frame("text_delta", { delta: "Hel" })));
      setTimeout(how, 1000, controller);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** The turn that is running in a conversation after a reload, and its notifications. */
async function resumed(world) {
  const turns = await world.session.resume();
  const turn = turns.at(-1);
  return { turn, told: tellings(turn), over: turn.waitForCompletion().then(() => undefined, (error) => error) };
}

const BEGUN = [user("Hello")];
const WHOLE = [...BEGUN, assistant("All of it")];

test("a turn that is silent for minutes survives a reload: its history is read until it ends", async (t) => {
  const world = await stillSession(t, (seconds) => (seconds < 9 * 60 ? BEGUN : WHOLE));
  const { turn, told, over } = await resumed(world);
  await settle();
  assert.equal(turn.status, "running");
  assert.deepEqual(turn.snapshot().waiting, { delay: 500, for: "history" });
  await world.pass(8 * MINUTE);
  assert.equal(turn.status, "running");
  const { waiting } = turn.snapshot();
  assert.deepEqual(waiting, { delay: 2000, for: "history" });
  await world.pass(10_000);
  assert.equal(turn.snapshot().waiting, waiting, "a wait like the last one changes nothing");
  await world.pass(MINUTE);
  assert.equal(await over, undefined);
  assert.equal(textOf(turn), "All of it");
  const { waiting: after, reconnecting, error } = turn.snapshot();
  assert.deepEqual([after, reconnecting, error], [null, null, null]);
  assert.deepEqual(new Set(topics(told)), new Set(["waiting"]));
  // Soon at first, then every two seconds. The first two reads are those of the conversation.
  const looks = world.looks.slice(2);
  const pauses = looks.slice(1).map((at, look) => at - looks[look]);
  assert.deepEqual(pauses.slice(0, 2), [500, 1000]);
  assert.deepEqual(new Set(pauses.slice(2)), new Set([2000]));
});

test("a history that grows is read for as long as it grows", async (t) => {
  const world = await stillSession(t, (seconds) => {
    const rounds = Math.floor(seconds / (9 * 60));
    const calls = Array.from({ length: rounds }, (_, at) => [assistant(use(`c${at}`, "lookup")), result(`c${at}`, "found")]);
    return [...BEGUN, ...calls.flat(), ...(rounds < 5 ? [] : [assistant("All of it")])];
  });
  const { told, turn, over } = await resumed(world);
  await world.pass(44 * MINUTE);
  assert.equal(turn.status, "running");
  await world.pass(MINUTE + 2000);
  assert.equal(await over, undefined);
  assert.equal(turn.snapshot().threads[0].messages.at(-1).content, "All of it");
  assert.deepEqual(new Set(topics(told)), new Set(["waiting"]));
});

test("a turn that was lost is not waited for forever", async (t) => {
  const world = await stillSession(t, (seconds) => (seconds < 16 * 60 ? BEGUN : WHOLE));
  const { turn, over } = await resumed(world);
  await world.pass(9 * MINUTE);
  assert.equal(turn.status, "running");
  await world.pass(MINUTE);
  const error = await over;
  assert.deepEqual([error.name, error.code, turn.status], ["IncompleteError", "incomplete", "incomplete"]);
  assert.match(error.message, /has not changed for 10 minutes/);
  assert.equal(turn.snapshot().waiting, null);
  // Another stream() looks for it again.
  const again = collect(turn.stream());
  await world.pass(5 * MINUTE);
  assert.equal(turn.status, "running");
  await world.pass(2 * MINUTE);
  assert.equal((await again).error, undefined);
  assert.equal(textOf(turn), "All of it");
});

for (const [name, past] of [
  ["has nothing of it", []],
  ["has no answer to it", BEGUN],
  ["has what somebody else was answered to the same words", [...BEGUN, assistant("Their answer"), user("More")]],
]) {
  for (const end of ["reset", "end"]) {
    test(`a stream that broke by ${end}, and the history ${name}: the text is kept, and nothing is sent again`, async (t) => {
      const history = (seconds) => {
        if (seconds < 0.5) return [];
        return seconds < 700 ? past : [...BEGUN, assistant("Hello again")];
      };
      const world = await stillSession(t, history, { turn: () => broken(BREAKS[end]) });
      const turn = world.session.createTurn({ input: "Hello" });
      const reading = collect(turn.stream());
      await world.pass(9 * MINUTE);
      assert.equal(turn.status, "running");
      await world.pass(1.2 * MINUTE);
      const { error } = await reading;
      assert.deepEqual([error.name, turn.status, textOf(turn)], ["IncompleteError", "incomplete", "Hel"]);
      assert.match(error.message, /history.*10 minutes.*kept/);
      assert.equal(turn.snapshot().error, error);
      assert.equal(world.starts.length, 1);
      if (past.length > 1) return;
      // Another stream() looks for it again.
      const again = collect(turn.stream());
      await world.pass(2 * MINUTE);
      assert.deepEqual([(await again).error, textOf(turn), world.starts.length], [undefined, "Hello again", 1]);
    });
  }
}

for (const [name, answers] of [
  ["is stored when it has ended", [[], [user("Hello"), assistant("Hel", "lo")]]],
  ["runs a tool", [[user("Hello"), assistant("Hel", use("c1", "lookup"))], [user("Hello"), assistant("Hel", use("c1", "lookup")), result("c1", "found"), assistant("lo")]]],
]) {
  test(`a stream that broke of a turn that ${name}: only lost connections count as tries`, async (t) => {
    const failing = (seconds) => seconds > 100 && seconds < 110;
    const history = (seconds) => {
      // Before the turn begins.
      if (seconds < 0.5) return [];
      if (failing(seconds)) return new Response("no", { status: 502 });
      return answers[seconds < 8 * 60 ? 0 : 1];
    };
    const world = await stillSession(t, history, { turn: () => broken(BREAKS.reset) });
    const session = world.session;
    await session.update({ agentTools: [{ name: "lookup", trust: true }] });
    const played = session.createTurn({ input: "Hello" });
    const told = tellings(played);
    const reading = collect(played.stream());
    await world.pass(99_000);
    assert.deepEqual(new Set(topics(told)), new Set(["waiting"]));
    assert.equal(played.snapshot().waiting.for, "history");
    await world.pass(5000);
    // The read itself fails: that is a lost connection, and counts.
    const { waiting, reconnecting } = played.snapshot();
    assert.deepEqual([waiting, reconnecting.cause.status], [null, 502]);
    assert.ok(reconnecting.attempt > 1);
    await world.pass(30_000);
    assert.deepEqual([played.snapshot().waiting?.for, played.snapshot().reconnecting], ["history", null]);
    await world.pass(8 * MINUTE);
    const { error } = await reading;
    assert.equal(error, undefined);
    assert.equal(played.snapshot().threads[0].messages.map(({ content }) => content).join(""), "Hello");
    assert.equal(world.starts.length, 1);
  });
}

test("failed reads use up the tries, and a successful one restores them", async (t) => {
  // Nine of ten looks fail; from some time on all do.
  const world = await stillSession(t, (seconds, look) => {
    return look > 3 && (seconds > 600 || look % 10 !== 0) ? new Response("no", { status: 500 }) : BEGUN;
  });
  const { turn, over } = await resumed(world);
  await world.pass(9 * MINUTE);
  assert.equal(turn.status, "running");
  await world.pass(3 * MINUTE);
  const error = await over;
  assert.match(error.message, /it failed 10 times in a row/);
  assert.equal(error.cause.status, 500);
});

test("a history that is refused ends the wait at once", async (t) => {
  const world = await stillSession(t, (seconds) => (seconds < 60 ? BEGUN : Response.json({ error: "Session not found" }, { status: 404 })));
  const { turn, over } = await resumed(world);
  await world.pass(2 * MINUTE);
  const error = await over;
  assert.deepEqual([error.name, error.status], ["ApiError", 404]);
  assert.equal(turn.snapshot().error, error);
});

test("the deadline and an abort end a wait; the turn goes on", async (t) => {
  const world = await stillSession(t, () => BEGUN);
  // Nothing else reads it: a deadline is that of one call.
  const turn = (await world.session.resume({ deadline: 3 * MINUTE })).at(-1);
  await world.pass(3 * MINUTE + 250);
  assert.deepEqual([turn.snapshot().error?.code, turn.snapshot().waiting, turn.status], ["timeout", null, "running"]);
  const controller = new AbortController();
  const again = collect(turn.stream({ signal: controller.signal }));
  await world.pass(MINUTE);
  assert.equal(turn.snapshot().waiting.for, "history");
  controller.abort();
  assert.equal((await again).error.code, "aborted");
  assert.deepEqual([turn.snapshot().waiting, turn.status], [null, "running"]);
});

test("cancel() ends a wait, and the next turn can start", async (t) => {
  const world = await stillSession(t, () => BEGUN);
  const { turn, over } = await resumed(world);
  await world.pass(MINUTE);
  await turn.cancel();
  assert.equal(await over, undefined);
  assert.deepEqual([turn.status, turn.snapshot().waiting], ["cancelled", null]);
});

test("a turn is found although another client's turn has followed it", async (t) => {
  const past = [user("Hello"), assistant("Earlier"), user("Hello")];
  const world = await stillSession(t, (seconds) => (seconds < 60 ? past : [...past, assistant("Ours"), user("Hello"), assistant("Theirs")]));
  const { turn, over } = await resumed(world);
  await world.pass(2 * MINUTE);
  assert.equal(await over, undefined);
  assert.equal(textOf(turn), "Ours");
});
