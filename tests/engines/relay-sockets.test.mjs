// Sockets that a relay holds, in every engine: whatever breaks between the page and the relay, the turn goes on, and nothing is lost,
// repeated or asked twice.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe } from "node:test";
import { before as configOf, Relay, Wire, WITH_RELAY } from "../../pkg/test/support/relay.mjs";
import { startGateway } from "../e2e/harness.mjs";
import { IS_QUICK } from "../rows.mjs";
import { Gateway } from "./gateway.mjs";
import { playInEngines } from "./in-engines.mjs";

/**
 * What happens to each connection of the page after this many bytes, or to the relay when an event has come; how many connections are
 * `lost` at least, and how many there are at `most`. The turn's messages, each with all of its text so far, have 440,000 bytes: if each
 * connection goes on where the last one broke, 19 are enough.
 */
const CASES = [
  { name: "each connection breaks after 25,000 bytes", script: "markdown", breaksAfter: 25_000, lost: 10, most: 22 },
  { name: "no fault", script: "reasoning" },
  { name: "the page's connections are cut", script: "markdown", at: { event: 8, what: "cut" }, lost: 1 },
  { name: "the relay is killed, and comes again with another journal", script: "markdown", at: { event: 8, what: "kill" }, lost: 1 },
];
/** The cases that an engine plays. */
const chosen = (engine) => (IS_QUICK ? CASES.slice(0, engine === "chromium" ? 1 : 0) : CASES);

/** The pace of the agent: turns last for long enough to be cut. */
const DELAY_MS = "6";

/** A relay behind a wire that breaks, and its agent. */
async function start() {
  const stops = [];
  const t = { after: (stop) => stops.unshift(stop) };
  const agent = await startGateway(import.meta.dirname, ["--delay-ms", DELAY_MS]);
  t.after(() => agent.stop());
  const more = `[upstream.agent]\nprotocol = "turn-rpc"\nurl = "${agent.url.replace(/^http/, "ws")}/turn-rpc"\nsessions = "open"\n`;
  const relay = await Relay.start(t, configOf(agent.url, { more, limits: "streams_per_subject = 100" }));
  const wire = await Wire.before(t, relay);
  const control = await serveControl({ cut: () => wire.cut(), kill: () => relay.restart() });
  t.after(() => control.close());
  const stop = async () => {
    for (const stop of stops) await stop();
  };
  return { agent: new Gateway(agent.url), wire, control: `http://127.0.0.1:${control.address().port}`, stop };
}

/** The address at which a page orders the breaks. */
async function serveControl(actions) {
  const server = createServer(async ({ url }, response) => {
    await actions[url.slice(1)]?.();
    response.setHeader("connection", "close").end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

describe("sockets behind a relay", WITH_RELAY, () => {
  let world;
  before(async () => (world = await start()));
  after(() => world?.stop());

  const play = async ({ breaksAfter = Infinity, lost = 0, most = Infinity, script, at }, player) => {
    const { wire, control, agent } = world;
    wire.breaksAfter = breaksAfter;
    const what = at && { event: at.event, what: `${control}/${at.what}` };
    const report = await player.play({ script, at: what, relay: `${wire.url.replace(/^http/, "ws")}/agent` });
    wire.breaksAfter = Infinity;
    const starts = (await agent.requests(report.session)).filter(({ frame }) => frame?.method === "turn/start");
    assert.equal(starts.length, 1, "the turn was started once");
    assert.equal(report.error, null);
    assert.deepEqual(report.numbers, report.numbers.map((_, at) => at + 1), "each event comes once, in order");
    assert.equal(report.types.filter((type) => type === "turn.done").length, 1);
    assert.deepEqual(report.conversation, report.uncut, "the conversation is that of an uncut turn");
    assert.ok(report.connections > lost, `the fault did not show: ${report.connections} connections`);
    assert.ok(report.connections <= most, `some connections brought nothing new: there were ${report.connections}`);
    return report.took;
  };
  // One after the other: all share the wire and the relay.
  playInEngines("sockets, relay", "/sockets.html", CASES, chosen, play, () => true);
});
