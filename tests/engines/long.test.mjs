// Long turns with few events: an event each three seconds, or nothing for most of a minute. A page in each engine
// comes back to them, and is reloaded while they run. The client that began them reads them to the end, and is what
// the pages are compared with. All of it happens at once: each turn takes longer than ten tries to get a lost connection
// back.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../pkg/dist/index.js";
import { ENGINES, openBrowser } from "./engines.mjs";
import { Table } from "./table.mjs";
import { startWorld } from "./world.mjs";

const { WebSocket } = createRequire(new URL("../../pkg/package.json", import.meta.url))("ws");

/** Ten tries to get a connection back take 28 seconds on average, and this is more than most. */
const TRIES_MS = 34_000;
/** When the pages are reloaded, after the turns have begun. */
const RELOAD_MS = 5000;
/** When the pages are read after that, in the middle of the wait. */
const MIDDLE_MS = 20_000;
const LIMIT_MS = 120_000;

const SLOW = { rhythm: "an event each 3 s", script: "long 16", pace: 3000 };
const SILENT = { rhythm: "silence for 51 s", script: "long 5", pace: 1, fault: "silence:51000" };

/** Surfaces of the gateway that finish turns without a reader; `waits` is what a page without a stream waits for. */
const SURFACES = [
  { surface: "truefoundry", protocol: "truefoundry", path: "/demo", agent: "support-bot", plays: [SLOW] },
  { surface: "trueforge", protocol: "trueforge", path: "", agent: "support-bot", plays: [SLOW] },
  { surface: "awaken", protocol: "awaken", path: "/awaken", agent: "assistant", plays: [SLOW, SILENT] },
  { surface: "awaken without a record", protocol: "awaken", path: "/awaken-plain", agent: "assistant", plays: [SLOW, SILENT], waits: "turn" },
  { surface: "aap", protocol: "aap", path: "/aap", agent: "support-bot", plays: [SLOW, SILENT], waits: "history" },
  { surface: "turn-rpc", protocol: "turn-rpc", path: "/turn-rpc", agent: "Chat", plays: [SLOW, SILENT] },
];

const CASES = SURFACES.flatMap(({ plays, ...surface }) => plays.map((play) => ({ name: `${surface.surface}: ${play.rhythm}`, ...surface, ...play })));

/** The outcomes, by engine and case. */
const outcomes = {};
const table = new Table();
for (const { name } of CASES) table.addRow("long", name);
const ending = [];

before(async () => {
  const world = await startWorld();
  ending.push(() => world.stop());
  const open = async (engine) => {
    const browser = await openBrowser(engine);
    ending.push(() => browser.close());
    table.addEngine(engine, browser.version);
    return [engine, browser.driver];
  };
  const browsers = await Promise.all(ENGINES.map(open));
  const firsts = await Promise.all(CASES.map((one) => begin(world.url, one)));
  const began = performance.now();
  const query = new URLSearchParams({ conversations: JSON.stringify(firsts.map(({ conversation }) => conversation)) });
  await Promise.all(browsers.map(([engine, driver]) => follow(engine, driver, `${world.url}/long.html?${query}`, firsts, began)));
}, { timeout: 2 * LIMIT_MS });

after(async () => {
  for (const end of ending.reverse()) await end();
  console.log(`\n${table}\n`);
});

/** Begins a turn, and reads it to its end. */
async function begin(url, { name, protocol, path, agent, script, pace, fault }) {
  const isSocket = protocol === "turn-rpc";
  const baseUrl = (isSocket ? url.replace(/^http/, "ws") : url) + path;
  const settings = { "x-turnwire-delay-ms": String(pace), ...(fault && { "x-turnwire-fault": fault }) };
  const client = await connect({
    baseUrl,
    protocol,
    reconnect: false,
    idleTimeout: 0,
    ...(isSocket ? { webSocket: (address) => new WebSocket(address, { headers: settings }) } : { headers: settings }),
  });
  const session = await client.agents.createSession(agent);
  const turn = session.createTurn({ input: script });
  const begun = new Promise((resolve) => turn.on("turn.created", resolve));
  const over = turn.waitForCompletion().then(() => ({ at: performance.now(), text: textOf(turn) }));
  // The socket would keep the process alive.
  if (isSocket) ending.push(() => client.close());
  await Promise.race([begun, over]);
  const conversation = { name, protocol, baseUrl, session: session.id, ...(protocol === "awaken" && { agentName: agent }) };
  return { conversation, over };
}

function textOf(turn) {
  return turn.snapshot().threads[0].messages.map(({ content }) => content).join("");
}

/** Resumes the turns in a page, twice, and waits until each has ended. */
async function follow(engine, driver, url, firsts, began) {
  const look = () => driver.executeScript("return globalThis.look?.() ?? null");
  const until = async (holds) => {
    for (let state; performance.now() - began < LIMIT_MS; await sleep(250)) {
      state = await look();
      if (state !== null && holds(Object.values(state))) return state;
    }
    return look();
  };
  const isFollowed = ({ status, failure }) => status !== null || failure !== null;
  const isOver = ({ status, failure }) => failure !== null || !["running", "starting", null].includes(status);
  await driver.get(url);
  await until((states) => states.every(isFollowed));
  await sleep(Math.max(0, RELOAD_MS - (performance.now() - began)));
  await driver.navigate().refresh();
  const reloaded = performance.now();
  await until((states) => states.every(isFollowed));
  const middle = await until((states) => performance.now() - reloaded > MIDDLE_MS || states.every(isOver));
  const last = await until((states) => states.every(isOver));
  for (const { conversation, over } of firsts) {
    const { name } = conversation;
    outcomes[engine] = { ...outcomes[engine], [name]: { middle: middle[name], last: last[name], first: await over, reloaded } };
  }
}

/**
 * Firefox shows a page the head of a response only with the first byte of its body, on a busy machine even later. In a
 * silence, a resumed stream may seem unanswered; it is requested again.
 */
const isWithheld = (engine, { code, message }) => engine === "firefox" && code === "timeout" && message.includes("connectTimeout");

for (const engine of ENGINES) {
  for (const { name, waits } of CASES) {
    test(`long: ${engine}: ${name}`, () => {
      table.add("long", name, engine, null);
      const { middle, last, first, reloaded } = outcomes[engine][name];
      assert.ok(first.at - reloaded > TRIES_MS, `it went on for ${first.at - reloaded} ms`);
      assert.deepEqual([middle.status, middle.reconnecting, middle.failure], ["running", null, null]);
      assert.equal(middle.waiting?.for, waits);
      assert.deepEqual([last.status, last.failure, last.text], ["done", null, first.text]);
      assert.deepEqual(last.heard.lost.filter((cause) => !isWithheld(engine, cause)), [], "no connection was lost");
      assert.equal(last.heard.waiting > 0, waits !== undefined, "to wait is told");
      table.add("long", name, engine, first.at - reloaded);
    });
  }
}
