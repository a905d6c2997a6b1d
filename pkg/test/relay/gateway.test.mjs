// Turns behind the real relay, whose agents are the development gateway: nothing is lost or repeated, whatever
// breaks between the client and the relay; what the relay loses is reported. Needs both programs (`TURNWIRE_RELAY`, `TURNWIRE_GATEWAY`).
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../dist/index.js";
import { collect, eventually, failure, textOf } from "../support/collect.mjs";
import { useGateway } from "../support/gateway.mjs";
import { Relay, Wire, WITH_RELAY } from "../support/relay.mjs";

const gateway = useGateway();
const SOON = { maxAttempts: 20, baseDelay: 20, maxDelay: 100 };

/** A client behind the relay at this URL. */
const clientOf = (url, protocol, more = {}) => connect({ baseUrl: `${url}/${protocol}`, protocol, relay: true, reconnect: SOON, ...more });

const begin = async (url, protocol, more) => (await clientOf(url, protocol, more)).agents.createSession("support-bot");

/** The same session in another client. */
const elsewhere = async (url, protocol, { id }) => (await clientOf(url, protocol)).agents.getSession(id, { agentName: "support-bot" });

const numbersOf = (events) => events.map((event) => event.sequence_number);
const counted = (count) => Array.from({ length: count }, (_, at) => at + 1);
const saidIn = ({ input }) => input.flatMap(({ content }) => (typeof content === "string" ? content : content.map(({ text }) => text))).join("");

/** The text of the same answer without a relay. */
async function direct(protocol, input) {
  const client = await connect({ baseUrl: `${gateway.url}/${protocol}`, protocol, headers: { "x-turnwire-delay-ms": "0" } });
  const turn = (await client.agents.createSession("support-bot")).createTurn(input);
  await turn.waitForCompletion();
  return textOf(turn);
}

/** Resolves when a turn has some text. */
const speaking = (turn) => new Promise((resolve) => turn.on("model.message.delta", resolve));

/** The agent's next answer for this session has a fault. */
async function plan(session, fault) {
  const response = await fetch(`${gateway.url}/_gateway/sessions/${session.id}/faults?ahead=true`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify([{ on: "create", fault }]),
  });
  assert.equal(response.ok, true, await response.text());
}

for (const protocol of ["aap", "tirea"]) {
  describe(protocol, WITH_RELAY, () => {
    test("a turn through the relay is the turn", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const session = await begin(relay.url, protocol);
      assert.equal(session.capabilities.resume, "cursor");
      const turn = session.createTurn("plain");
      const { events, error } = await collect(turn.stream());
      assert.equal(error, undefined);
      assert.deepEqual(numbersOf(events), counted(events.length));
      assert.equal(textOf(turn), await direct(protocol, "plain"));
      const more = session.createTurn("plain again");
      await more.waitForCompletion();
      assert.equal(more.status, "done");
    });

    test("a connection that breaks repeatedly loses nothing", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const wire = await Wire.before(t, relay);
      const session = await begin(wire.url, protocol);
      const turn = session.createTurn("markdown");
      let resumed = 0;
      turn.on("resumed", () => (resumed += 1));
      wire.breaksAfter = 4000;
      wire.cut();
      const { events, error } = await collect(turn.stream());
      assert.equal(error, undefined);
      assert.ok(wire.broken > 2 && resumed > 1, `${wire.broken} connections broke, ${resumed} were resumed`);
      assert.deepEqual(numbersOf(events), counted(events.length));
      wire.breaksAfter = Infinity;
      assert.equal(textOf(turn), await direct(protocol, "markdown"));
      const history = await (await elsewhere(relay.url, protocol, session)).history();
      assert.deepEqual(history.map(saidIn), ["markdown"]);
    });

    test("a start whose answer is lost reaches the agent once", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const wire = await Wire.before(t, relay);
      const session = await begin(wire.url, protocol);
      wire.cut();
      wire.breaksAfter = 0;
      const turn = session.createTurn("plain");
      turn.on("reconnecting", ({ attempt }) => attempt === 3 && (wire.breaksAfter = Infinity));
      const { events, error } = await collect(turn.stream());
      assert.equal(error, undefined);
      assert.ok(wire.broken >= 2, `${wire.broken} answers were lost`);
      assert.deepEqual(numbersOf(events), counted(events.length));
      const history = await (await elsewhere(relay.url, protocol, session)).history();
      assert.deepEqual(history.map(saidIn), ["plain"]);
      assert.deepEqual(history.map(textOf), [textOf(turn)]);
    });

    test("another client reads the same turn while it runs", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const session = await begin(relay.url, protocol);
      const turn = session.createTurn("markdown");
      const ended = turn.waitForCompletion();
      await speaking(turn);
      const other = await elsewhere(relay.url, protocol, session);
      const { last } = await other.resume();
      assert.equal(last.id, turn.id);
      await Promise.all([ended, last.waitForCompletion()]);
      assert.deepEqual([last.status, textOf(last)], ["done", textOf(turn)]);
      const ids = (one) => one.snapshot().threads[0].messages.map(({ id }) => id);
      assert.deepEqual(ids(last), ids(turn));
      // Both go on from there.
      const next = other.createTurn("plain");
      await next.waitForCompletion();
      assert.equal(next.status, "done");
    });

    test("a turn is stopped for all its readers", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const session = await begin(relay.url, protocol);
      const turn = session.createTurn("slow");
      const ended = turn.waitForCompletion();
      await speaking(turn);
      const { last } = await (await elsewhere(relay.url, protocol, session)).resume();
      await speaking(last);
      await last.cancel();
      await Promise.all([ended, last.waitForCompletion()]);
      assert.deepEqual([turn.status, last.status], ["cancelled", "cancelled"]);
    });

    test("a turn that has ended is read on after the relay has crashed", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const session = await begin(relay.url, protocol);
      const turn = session.createTurn("plain");
      const stop = new AbortController();
      const events = [];
      for await (const event of turn.stream()) {
        events.push(event);
        if (event.type === "model.message.delta") break;
      }
      const open = async () => {
        const response = await fetch(`${relay.url}/${protocol}/_turnwire/v1/turns?session=${session.id}&state=open`);
        return (await response.json()).turns.length;
      };
      while ((await open()) > 0) await sleep(20);
      await relay.restart();
      const rest = await collect(turn.stream({ signal: stop.signal }));
      assert.equal(rest.error, undefined);
      const all = [...events, ...rest.events];
      assert.deepEqual(numbersOf(all), counted(all.length));
      assert.deepEqual([turn.status, textOf(turn)], ["done", await direct(protocol, "plain")]);
    });

    test("a relay that crashes cuts the turn, and says so", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const session = await begin(relay.url, protocol);
      const turn = session.createTurn("markdown");
      const causes = [];
      turn.on("reconnecting", ({ cause }) => causes.push(cause));
      const wait = collect(turn.stream());
      await speaking(turn);
      await relay.restart();
      const { error } = await wait;
      const cut = causes.find(({ code }) => code === "cut");
      assert.equal(cut?.body.reason, "relay_restarted");
      // One agent finishes a turn without a reader, and its history has it; the other abandons it.
      if (protocol === "aap") assert.deepEqual([error, turn.status, textOf(turn)], [undefined, "done", await direct(protocol, "markdown")]);
      else {
        assert.deepEqual([error.code, turn.status], ["incomplete", "incomplete"]);
        assert.equal(error.cause, cut);
        assert.ok(textOf(turn).length > 0);
      }
    });

    test("an agent whose connection breaks cuts the turn", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const session = await begin(relay.url, protocol);
      await plan(session, "reset:4");
      const turn = session.createTurn("plain");
      const causes = [];
      turn.on("reconnecting", ({ cause }) => causes.push(cause));
      const { error } = await collect(turn.stream());
      const cut = causes.find(({ code }) => code === "cut");
      assert.equal(cut?.body.reason, "upstream_lost");
      assert.equal(typeof cut.body.last, "number");
      if (protocol === "aap") assert.deepEqual([error, textOf(turn)], [undefined, await direct(protocol, "plain")]);
      else assert.deepEqual([error.code, error.cause], ["incomplete", cut]);
    });

    test("an agent that ends its stream too early does not end the turn", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const session = await begin(relay.url, protocol);
      await plan(session, "eof:4");
      const turn = session.createTurn("plain");
      const { error } = await collect(turn.stream());
      if (protocol === "aap") assert.deepEqual([error, textOf(turn)], [undefined, await direct(protocol, "plain")]);
      else assert.deepEqual([error.code, turn.status], ["incomplete", "incomplete"]);
    });

    test("a refused turn may be started again", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const session = await begin(relay.url, protocol);
      await plan(session, "status:429:0");
      const turn = session.createTurn("plain");
      const { error } = await collect(turn.stream());
      assert.deepEqual([error, turn.status], [undefined, "done"]);
    });

    test("a server that is not a relay is an error that says so", WITH_RELAY, async () => {
      const begun = async () => {
        const session = await begin(gateway.url, protocol);
        await session.createTurn("plain").waitForCompletion({ reconnect: false });
      };
      const error = await failure(begun);
      assert.equal(error.code, "unexpected_response");
      assert.match(error.message, /no relay/);
    });
  });
}

test("a relay that keeps no turns of the protocol is refused", async () => {
  for (const protocol of ["truefoundry", "awaken", "ag-ui"]) {
    const error = await failure(connect({ baseUrl: "http://localhost/x", protocol, relay: true }));
    assert.deepEqual([error.name, error.code], ["StateError", "unsupported"], protocol);
  }
  const error = await failure(connect({ baseUrl: "http://localhost/x", protocol: "aap", relay: "yes" }));
  assert.equal(error.code, "invalid_option");
});

test("the client waits for a relay that is down, and the wait can be stopped", WITH_RELAY, async (t) => {
  const relay = await Relay.start(t, gateway.url);
  const session = await begin(relay.url, "aap", { reconnect: { ...SOON, maxAttempts: 500 } });
  const turn = session.createTurn("plain");
  await relay.kill();
  const stop = new AbortController();
  const wait = collect(turn.stream({ signal: stop.signal }));
  let attempts = 0;
  turn.on("reconnecting", () => (attempts += 1));
  await eventually(() => attempts > 2);
  stop.abort();
  assert.equal((await wait).error.code, "aborted");
  await relay.begin();
  const { error } = await collect(turn.stream());
  assert.deepEqual([error, turn.status], [undefined, "done"]);
});
