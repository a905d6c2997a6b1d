// A page that runs many turns ends as it began: no timer, connection or memory stays, and no listener but
// those of the first turn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { IS_QUICK } from "../rows.mjs";
import { CHROMIUM_ONLY, useWorld } from "./harness.mjs";

const world = useWorld();

/** How many are played before the first measurement, and in each round after it; and the rounds. */
const ROUND = 200;
const ROUNDS = IS_QUICK ? 1 : 5;

/** The page's events that the package listens to, once for all turns. */
const FOLLOWED = 4;

/** Counts timers and listeners that stay, and finds the core's memory. Runs before the page's own scripts. */
function watch() {
  const timers = new Set();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  globalThis.setTimeout = (run, delay, ...rest) => {
    const timer = set(() => (timers.delete(timer), run(...rest)), delay);
    timers.add(timer);
    return timer;
  };
  globalThis.clearTimeout = (timer) => (timers.delete(timer), clear(timer));
  let listeners = 0;
  for (const target of [globalThis, document]) {
    const { addEventListener: add, removeEventListener: remove } = target;
    target.addEventListener = (...rest) => ((listeners += 1), add.apply(target, rest));
    target.removeEventListener = (...rest) => ((listeners -= 1), remove.apply(target, rest));
  }
  let memory;
  WebAssembly.Instance = class extends WebAssembly.Instance {
    constructor(module) {
      super(module);
      ({ memory } = this.exports);
    }
  };
  globalThis.left = () => ({ timers: timers.size, listeners, wasm: memory?.buffer.byteLength });
}

/** Runs turns one after the other: whole ones, cut ones, abandoned ones, aborted and cancelled. */
async function runTurns({ base, from, to }) {
  const client = await globalThis.turnwire.connect({ baseUrl: `${base}/acme`, headers: { "x-turnwire-delay-ms": "0" }, reconnect: { baseDelay: 1, maxDelay: 5 } });
  const session = await client.agents.createSession("support-bot");
  const gateway = `${base}/_gateway/sessions/${session.id}`;
  const headers = { "content-type": "application/json" };
  let whole = 0;
  for (let at = from; at < to; at += 1) {
    const kind = at % 10;
    if (kind === 1 || kind === 2) {
      const faults = [{ on: "create", fault: kind === 1 ? "reset:5" : "eof-bytes:700" }];
      await fetch(`${gateway}/faults`, { method: "PUT", headers, body: JSON.stringify(faults) });
    }
    const turn = session.createTurn({ input: "plain", previousTurnId: "none" });
    const stop = turn.subscribe(() => turn.snapshot());
    const controller = new AbortController();
    try {
      let count = 0;
      for await (const _ of turn.stream({ signal: controller.signal, deadline: 60_000 })) {
        count += 1;
        if (kind === 3 && count === 4) break;
        if (kind === 4 && count === 4) controller.abort();
        if (kind === 5 && count === 4) await turn.cancel();
      }
      if (turn.status === "done") whole += 1;
    } catch (error) {
      if (error.code !== "aborted") throw error;
    }
    stop();
  }
  return whole;
}

/** Opens conversations one after the other, streams a turn in each, and forgets them. */
async function runConversations({ base, from, to }) {
  const { Conversations } = await import("/dist/conversation.js");
  const client = await globalThis.turnwire.connect({ baseUrl: `${base}/acme`, headers: { "x-turnwire-delay-ms": "0" } });
  globalThis.chats ??= new Conversations({ client, agentName: "support-bot" });
  let whole = 0;
  for (let at = from; at < to; at += 1) {
    const chat = chats.create();
    const leave = chat.attach();
    const unsubscribe = chat.rows.subscribe(() => {});
    chat.send("plain");
    await new Promise((resolve) => {
      const look = () => chat.status.get().phase === "idle" && chat.messages.get().length === 2 && resolve();
      chat.status.subscribe(look);
      chat.messages.subscribe(look);
      look();
    });
    if (chat.messages.get()[1].text !== "") whole += 1;
    unsubscribe();
    leave();
    chats.forget(chat);
  }
  return whole;
}

/** Plays a program for one round, then for the others, of which a share is whole; compares what remains of the page after both. */
async function leavesNothing(play, share) {
  const page = await world.page("/", (page) => page.addInitScript(watch));
  const devtools = await page.context().newCDPSession(page);
  const run = (from, to) => page.evaluate(play, { base: world.url, from, to });
  const measure = async () => {
    await page.waitForTimeout(400);
    for (let round = 0; round < 3; round += 1) await devtools.send("HeapProfiler.collectGarbage");
    const { usedSize } = await devtools.send("Runtime.getHeapUsage");
    return { ...(await page.evaluate(() => globalThis.left())), heap: usedSize };
  };
  const open = async () => (await (await fetch(`${world.url}/_gateway/streams`)).json()).open;

  const before = await page.evaluate(() => globalThis.left());
  await run(0, ROUND);
  const early = await measure();
  let whole = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    whole += await run(round * ROUND, (round + 1) * ROUND);
    // Memory is returned by the collector; a page has pauses in which it runs.
    await measure();
  }
  const late = await measure();
  console.log(`after ${ROUND} ${JSON.stringify(early)}, after ${ROUND * (ROUNDS + 1)} ${JSON.stringify(late)}`);
  assert.ok(whole >= share * ROUND * ROUNDS, `${whole} turns were whole`);
  assert.deepEqual([late.timers, late.listeners, await open()], [0, before.listeners + FOLLOWED, 0]);
  assert.ok(late.wasm <= early.wasm + 128 * 1024, `the core's memory grew from ${early.wasm} to ${late.wasm} bytes`);
  assert.ok(late.heap <= early.heap + 1024 * 1024, `the heap grew from ${early.heap} to ${late.heap} bytes`);
  await page.context().close();
}

test("turns leave nothing behind", CHROMIUM_ONLY, () => leavesNothing(runTurns, 0.7));

test("forgotten conversations leave nothing behind", CHROMIUM_ONLY, () => leavesNothing(runConversations, 1));
