// Silence by the default clocks. In a file of its own: after another test on mocked timers in the same process,
// the interval of this one did not run in Node 20.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket } from "ws";
import { collect, textOf } from "../support/collect.mjs";
import { say, serveTimed, SILENCE, turn } from "../support/turn-rpc.mjs";

test("a connection on which a turn is read is pinged, and found dead within its clock", async (t) => {
  let isDead = false;
  let heard = 0;
  const { server, client, pass, until } = await serveTimed(t, {
    "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }),
    "workspace/default": ({ peer }) => (isDead && peer.number === 0 ? SILENCE : { workspace: { id: "ws_1" } }),
  }, {
    idleTimeout: 90_000,
    webSocket: (url) => new WebSocket(url).on("message", () => (heard += 1)),
  });
  const played = (await client.agents.createSession("Chat")).createTurn({ input: "Hello" });
  const silences = [];
  played.on("idle", ({ silence }) => silences.push(silence));
  const reading = collect(played.stream());
  const pings = () => server.count("workspace/default") - 1;
  await until(() => heard === 3);
  for (let count = 1; count <= 4; count += 1) {
    await pass(45_000);
    await until(() => heard === 3 + count);
    assert.equal(pings(), count);
  }
  isDead = true;
  await pass(45_000);
  await until(() => pings() === 5);
  await pass(44_000);
  assert.deepEqual(silences, []);
  await pass(1000);
  assert.deepEqual(silences, [90_000]);
  while (server.count("turn/timeline") === 0) await pass(10);
  const [{ params }] = server.requests.filter(({ method }) => method === "turn/start");
  server.peers[1].tell(...say(params).all("Hello"));
  assert.equal((await reading).error, undefined);
  assert.equal(textOf(played), "Hello");
  assert.equal(server.peers.length, 2);
});
