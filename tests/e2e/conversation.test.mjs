// A conversation in a real page: stopping, leaving, resuming, and what a second client sees.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startGateway, useWorld } from "./harness.mjs";
import { install, openKit } from "./kit.mjs";

const world = useWorld();

/** A pace at which a turn of thousands of events does not end while a test reads it. */
const PACED = { headers: { "x-turnwire-delay-ms": "5" } };

test("cancel() ends the turn on the server; its last events still arrive", async () => {
  const page = await openKit(world);
  const outcome = await page.evaluate(async (paced) => {
    const session = await kit.session(paced);
    const turn = session.createTurn({ input: "long 100000" });
    const events = [];
    for await (const event of turn.stream()) {
      events.push(event);
      if (event.sequence_number === 20) await turn.cancel();
    }
    await turn.cancel();
    const state = await turn.waitForCompletion();
    const next = await kit.play(session, "plain");
    return { ...kit.report({ turn, events }), state, next: next.turn.status };
  }, PACED);
  assert.equal(outcome.status, "cancelled");
  assert.deepEqual([outcome.state.status, outcome.state.reason], ["cancelled", "client-cancelled"]);
  assert.equal(outcome.types.at(-1), "turn.done");
  assert.ok(outcome.dense && outcome.agrees);
  assert.equal(outcome.next, "done");
  assert.deepEqual(page.failures, []);
});

test("an abort ends the read; the turn goes on and can be joined again", async () => {
  const page = await openKit(world);
  const outcome = await page.evaluate(async () => {
    const session = await kit.session({ headers: { "x-turnwire-delay-ms": "1" } });
    const turn = session.createTurn({ input: "long 300" });
    const controller = new AbortController();
    const events = [];
    let error;
    try {
      for await (const event of turn.stream({ signal: controller.signal })) {
        events.push(event);
        if (event.sequence_number === 20) controller.abort(new Error("enough"));
      }
    } catch (caught) {
      error = { ...kit.told(caught), cause: caught.cause.message };
    }
    const between = turn.status;
    const rest = await kit.stream(turn);
    events.push(...rest.events);
    const state = await turn.state();
    return { error, between, ...kit.report({ turn, events }), output: state.output.content };
  });
  assert.deepEqual([outcome.error.name, outcome.error.code, outcome.error.cause], ["AbortError", "aborted", "enough"]);
  assert.equal(outcome.between, "running");
  assert.ok(outcome.dense && outcome.agrees);
  assert.equal(outcome.text, outcome.output);
});

test("abandoned streams release their connections, of which a browser has six", async () => {
  const page = await openKit(world);
  const statuses = await page.evaluate(async (paced) => {
    const left = [];
    for (let count = 0; count < 10; count += 1) {
      const turn = (await kit.session(paced)).createTurn({ input: "long 100000" });
      for await (const event of turn.stream()) if (event.type === "model.message.delta") break;
      left.push(turn.status);
      await turn.cancel();
    }
    return left;
  }, PACED);
  assert.deepEqual(statuses, Array(10).fill("running"));
});

test("history() equals what was streamed: texts, calls, results, threads", async () => {
  const page = await openKit(world);
  const { streamed, listed } = await page.evaluate(async () => {
    const client = await kit.client();
    const session = await client.agents.createSession("support-bot");
    const turns = [];
    for (const input of ["plain", "tools", "subagents", "unicode", "approval"]) turns.push((await kit.play(session, input)).turn);
    const [action] = turns.at(-1).snapshot().required_actions;
    turns.push((await kit.play(session, kit.allow(action))).turn);
    const later = await (await client.agents.getSession(session.id)).history();
    // Sequence numbers are the stream's, and server sessions have their own events.
    const view = (turn) => {
      const { turn_id, status, state, input, threads, required_actions, sandbox_id } = turn.snapshot();
      return { turn_id, status, state, input, threads, required_actions, sandbox_id };
    };
    return { streamed: turns.map(view), listed: later.map(view) };
  });
  assert.equal(listed.length, 6);
  for (const [at, turn] of streamed.entries()) assert.deepEqual(listed[at], turn);
});

test("a reloaded page finds its turn running, and misses nothing of it", async () => {
  const page = await openKit(world);
  const id = await page.evaluate(async () => {
    const session = await kit.session({ headers: { "x-turnwire-delay-ms": "10" } });
    await kit.play(session, "plain");
    await kit.until(session.createTurn({ input: "long 400" }).stream(), "model.message.delta", 10);
    return session.id;
  });
  await page.reload();
  await page.waitForFunction(() => "turnwire" in globalThis);
  await page.evaluate(install);
  const { found, report } = await page.evaluate(async (sessionId) => {
    const session = await (await kit.client()).agents.getSession(sessionId);
    const [before, running] = await session.history();
    const found = [before.status, kit.text(before).length > 0, running.status];
    return { found, report: kit.report(await kit.stream(running)) };
  }, id);
  assert.deepEqual(found, ["done", true, "running"]);
  assert.ok(report.dense && report.agrees);
  assert.equal(report.status, "done");
  assert.equal(report.types.filter((type) => type === "model.message.delta").length, 401);
});

test("two clients watch the same turn", async () => {
  const page = await openKit(world);
  const { first, second } = await page.evaluate(async () => {
    const session = await kit.session({ headers: { "x-turnwire-delay-ms": "1" } });
    const turn = session.createTurn({ input: "long 300" });
    const iterator = turn.stream();
    await kit.until(iterator, "turn.created");
    const other = await (await kit.client()).agents.getSession(session.id);
    const joined = await other.getTurn(turn.id);
    const watching = kit.stream(joined);
    for await (const _ of iterator);
    await watching;
    return { first: kit.text(turn), second: kit.report(await watching) };
  });
  assert.equal(second.text, first);
  assert.ok(second.dense && second.agrees);
});

test("the list of sessions has all sessions, over pages", async () => {
  const page = await openKit(world);
  const { made, listed, oldest } = await page.evaluate(async () => {
    const { agents } = await kit.client({ token: "user:lister" });
    const made = [];
    for (let count = 0; count < 7; count += 1) made.push((await agents.createSession("support-bot")).id);
    const ids = async (options) => {
      const list = [];
      for await (const session of agents.listSessions("support-bot", options)) list.push(session.id);
      return list;
    };
    return { made, listed: await ids({ limit: 3 }), oldest: await ids({ limit: 2, order: "asc" }) };
  });
  assert.deepEqual(listed, made.toReversed());
  assert.deepEqual(oldest, made);
});

test("turns are listed newest first, and completed without a stream", async () => {
  const page = await openKit(world);
  const { waited, listed, ids } = await page.evaluate(async () => {
    const session = await kit.session();
    const first = session.createTurn({ input: "plain" });
    const state = await first.waitForCompletion();
    const second = await kit.play(session, "tools");
    const turns = [];
    for await (const turn of session.listTurns({ limit: 1 })) turns.push([turn.id, turn.previousTurnId, turn.status]);
    const events = [];
    for await (const event of second.turn.listEvents()) events.push(event.type);
    await session.refresh();
    return { waited: [state.status, kit.text(first)], listed: { turns, events, title: session.title }, ids: [first.id, second.turn.id] };
  });
  assert.equal(waited[0], "done");
  assert.match(waited[1], /^Here is a plain answer/);
  assert.deepEqual(listed.turns, [[ids[1], ids[0], "done"], [ids[0], null, "done"]]);
  assert.ok(listed.events.includes("tool.response") && !listed.events.includes("model.message.delta"));
  assert.equal(listed.title, "plain");
});

test("the sibling protocol: turns, an approval, a file", async () => {
  const page = await openKit(world);
  const { reports, answer, file } = await page.evaluate(async () => {
    const client = await kit.client({ baseUrl: location.origin, protocol: "trueforge" });
    const session = await client.agents.createSession("support-bot");
    const plays = [];
    for (const input of ["plain", "subagents", "sandbox"]) plays.push(await kit.play(session, input));
    const file = await client.agents.downloadSandboxFile({ sessionId: session.id, turnId: plays[2].turn.id }, "/workspace/uptime.csv");
    const paused = await kit.play(session, "approval");
    const resumed = await kit.play(session, kit.allow(paused.turn.snapshot().required_actions[0]));
    return { reports: plays.map(kit.report), answer: kit.text(resumed.turn), file: await file.text() };
  });
  for (const report of reports) assert.ok(report.dense && report.agrees && report.status === "done");
  assert.match(answer, /nine seconds/);
  assert.match(file, /^month,/);
});

test("the sibling protocol: the history is in order, and has the pending calls", async () => {
  const page = await openKit(world);
  const { streamed, listed, answer } = await page.evaluate(async () => {
    const client = await kit.client({ baseUrl: location.origin, protocol: "trueforge" });
    const session = await client.agents.createSession("support-bot");
    const streamed = [];
    for (const input of ["plain", "tools", "approval"]) streamed.push((await kit.play(session, input)).turn);
    const later = await client.agents.getSession(session.id);
    const listed = await later.history();
    const [action] = listed.flatMap((turn) => turn.snapshot().required_actions);
    const resumed = await kit.play(later, kit.allow(action));
    const texts = (turns) => turns.map(kit.text);
    return { streamed: texts(streamed), listed: texts(listed), answer: kit.text(resumed.turn) };
  });
  assert.deepEqual(listed, streamed);
  assert.match(answer, /nine seconds/);
});

test("the sibling protocol: a running turn is found and joined", async () => {
  const page = await openKit(world);
  const { report, deltas } = await page.evaluate(async () => {
    const sibling = { baseUrl: location.origin, protocol: "trueforge", headers: { "x-turnwire-delay-ms": "10" } };
    const client = await kit.client(sibling);
    const session = await client.agents.createSession("support-bot");
    await kit.until(session.createTurn({ input: "long 200" }).stream(), "model.message.delta", 5);
    const later = await client.agents.getSession(session.id);
    const [running] = await later.history();
    const report = kit.report(await kit.stream(running));
    return { report, deltas: report.types.filter((type) => type === "model.message.delta").length };
  });
  assert.ok(report.dense && report.agrees);
  assert.deepEqual([report.status, deltas], ["done", 201]);
});

test("however the network cuts the bytes, the events are the same", async () => {
  const page = await openKit(world);
  const runs = await page.evaluate(async () => {
    const texts = [];
    const cuts = [{}, { "x-turnwire-chunk-bytes": "1" }, { "x-turnwire-chunk-bytes": "7" }, { "x-turnwire-chunk-bytes": "1000" }, { "x-turnwire-batch": "3" }];
    for (const headers of cuts) {
      const { text, dense, agrees, types } = kit.report(await kit.play(await kit.session({ headers }), "unicode"));
      texts.push({ text, dense, agrees, count: types.length });
    }
    return texts;
  });
  assert.equal(runs.length, 5);
  for (const run of runs) assert.deepEqual(run, runs[0]);
  assert.ok(runs[0].dense && runs[0].agrees);
});

test("a turn whose gateway goes away in the middle is incomplete, with what came", async () => {
  const elsewhere = await startGateway(world.makeSite());
  const page = await openKit(world);
  try {
    await page.evaluate(async (url) => {
      const client = await kit.client({ baseUrl: `${url}/demo`, token: "k", headers: { "x-turnwire-delay-ms": "5" } });
      const session = await client.agents.createSession("support-bot");
      globalThis.turn = session.createTurn({ input: "long 100000" });
      const iterator = turn.stream();
      await kit.until(iterator, "model.message.delta", 5);
      globalThis.rest = (async () => {
        for await (const _ of iterator);
      })().catch(kit.told);
    }, elsewhere.url);
  } finally {
    await elsewhere.stop();
  }
  const { error, text, status } = await page.evaluate(async () => ({ error: await rest, text: kit.text(turn), status: turn.status }));
  assert.deepEqual([error.name, error.code, error.typed], ["IncompleteError", "incomplete", true]);
  assert.match(text, /^## Chapter 1/);
  assert.equal(status, "incomplete");
});

test("a missing session is an API error", async () => {
  const page = await openKit(world);
  const error = await page.evaluate(async () => {
    const client = await kit.client();
    return client.agents.getSession("nobody's").catch(kit.told);
  });
  assert.deepEqual([error.name, error.code, error.status, error.typed], ["ApiError", "http", 404, true]);
});
