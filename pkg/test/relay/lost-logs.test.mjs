// Logs that are gone when a client reconnects: expired, removed, or others in their place. Against the real relay.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { connect } from "../../dist/index.js";
import { collect, textOf } from "../support/collect.mjs";
import { useGateway } from "../support/gateway.mjs";
import { before, Relay, WITH_RELAY } from "../support/relay.mjs";

const gateway = useGateway();
const SOON = { maxAttempts: 20, baseDelay: 20, maxDelay: 100 };

const begin = async ({ url }, protocol) => {
  const client = await connect({ baseUrl: `${url}/${protocol}`, protocol, relay: true, reconnect: SOON });
  return client.agents.createSession("support-bot");
};

/** Reads this many events of a turn, and leaves. */
async function readSome(turn, count) {
  const events = [];
  for await (const event of turn.stream()) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

/** What the relay knows of a turn. */
async function known({ url }, protocol, session, turn) {
  const { turns } = await (await fetch(`${url}/${protocol}/_turnwire/v1/turns?session=${session.id}`)).json();
  return turns.find(({ id }) => id === turn.id);
}

async function ended(relay, protocol, session, turn) {
  while ((await known(relay, protocol, session, turn))?.state !== "closed") await sleep(20);
}

/** The answer to a reader that reconnects. */
async function attach({ url }, protocol, turn, query) {
  const response = await fetch(`${url}/${protocol}/_turnwire/v1/turns/${turn.id}/events?${query}`, { headers: { "turnwire-relay": "1" } });
  const text = await response.text();
  return [response.status, response.ok ? text : JSON.parse(text).code];
}

/** The answer's text, as the agent itself keeps it. */
async function direct(protocol, { id }) {
  const client = await connect({ baseUrl: `${gateway.url}/${protocol}`, protocol });
  const { last } = await (await client.agents.getSession(id, { agentName: "support-bot" })).resume();
  return textOf(last);
}

/** No event comes twice, except for whole messages that replace their missed parts. */
function assertOnce(events) {
  const keys = events.filter(({ type }) => !type.startsWith("model.message")).map(({ type, id }) => `${type} ${id}`);
  assert.deepEqual(keys.filter((key, at) => keys.indexOf(key) !== at), []);
}

/** A quick run tests only AAP. */
const PROTOCOLS = process.env.TURNWIRE_TEST === "quick" ? ["aap"] : ["aap", "tirea"];

for (const protocol of PROTOCOLS) {
  describe(protocol, WITH_RELAY, () => {
    test("a log that has expired is 412, and the agent's history has the turn", async (t) => {
      const relay = await Relay.start(t, before(gateway.url, { log: 'retention = "1s"' }));
      const session = await begin(relay, protocol);
      const turn = session.createTurn("plain");
      const first = await readSome(turn, 5);
      await ended(relay, protocol, session, turn);
      const { log } = await known(relay, protocol, session, turn);
      let answer;
      do {
        await sleep(100);
        answer = await attach(relay, protocol, turn, `after=5&log=${log}`);
      } while (answer[0] === 200);
      assert.deepEqual(answer, [412, "expired"]);
      const { events, error } = await collect(turn.stream());
      assert.deepEqual([error, turn.status], [undefined, "done"]);
      assert.equal(textOf(turn), await direct(protocol, session));
      assertOnce([...first, ...events]);
    });

    test("a log that was removed is 404, and the agent's history has the turn", async (t) => {
      const relay = await Relay.start(t, gateway.url);
      const session = await begin(relay, protocol);
      const turn = session.createTurn("plain");
      const first = await readSome(turn, 5);
      await ended(relay, protocol, session, turn);
      await promisify(execFile)(process.env.TURNWIRE_RELAY, ["purge", relay.file, "--session", `${protocol}/${session.id}`]);
      assert.deepEqual(await attach(relay, protocol, turn, "after=5"), [404, "not_found"]);
      const { events, error } = await collect(turn.stream());
      assert.deepEqual([error, turn.status], [undefined, "done"]);
      assert.equal(textOf(turn), await direct(protocol, session));
      assertOnce([...first, ...events]);
    });

    test("another log of the turn is 412, and read from its beginning", async (t) => {
      const open = ["aap", "tirea"].map((name) => `[upstream.${name}]\nprotocol = "${name}"\nurl = "${gateway.url}/${name}"\nsessions = "open"\n`);
      // A log in memory is lost with its process.
      const config = ({ port }) => `listen = "127.0.0.1:${port}"\n[identity.none]\n${open.join("")}`;
      const relay = await Relay.start(t, config);
      let start;
      const noted = async (url, init) => {
        if (new Headers(init?.headers).has("turnwire-turn")) start ??= [url, init];
        return fetch(url, init);
      };
      const client = await connect({ baseUrl: `${relay.url}/${protocol}`, protocol, relay: true, reconnect: SOON, fetch: noted });
      const session = await client.agents.createSession("support-bot");
      const turn = session.createTurn("plain");
      const first = await readSome(turn, 5);
      await ended(relay, protocol, session, turn);
      const { log } = await known(relay, protocol, session, turn);
      const [, whole] = await attach(relay, protocol, turn, "after=0");
      await relay.restart();
      // Another page sends the same start again: this relay does not know it, and the agent answers a second time.
      const { signal: _, ...init } = start[1];
      await (await fetch(start[0], init)).text();
      assert.deepEqual(await attach(relay, protocol, turn, `after=5&log=${log}`), [412, "log_changed"]);
      const [, other] = await attach(relay, protocol, turn, "after=0");
      const causes = [];
      turn.on("reconnecting", ({ cause }) => causes.push(cause));
      const { events, error } = await collect(turn.stream());
      assertOnce([...first, ...events]);
      // AAP's agent repeats the same frames. tirea's frames get new ids each time.
      assert.equal(whole === other, protocol === "aap");
      if (protocol === "aap") {
        assert.deepEqual([error, turn.status], [undefined, "done"]);
        assert.deepEqual([...first, ...events].map((event) => event.sequence_number), [...first, ...events].map((_, at) => at + 1));
      } else {
        // Its frames differ: what came is kept, and nothing of the other answer is mixed into it.
        const cut = causes.find(({ code }) => code === "cut") ?? error?.cause;
        assert.equal(cut?.body?.reason, "log_changed", `${error}`);
        assert.ok(["done", "incomplete"].includes(turn.status));
      }
    });
  });
}
