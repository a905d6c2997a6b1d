// `turnwire/nowasm`, in a process that has no WebAssembly: the same turns on the same bad connections as with it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import * as wasm from "../dist/truefoundry.js";
import { fakeServer } from "../dist/testing.js";

const DIST = join(import.meta.dirname, "..", "dist");
const LIMIT_MS = 60_000;

const PROTOCOLS = ["truefoundry", "trueforge"];
const FAULTS = [
  "none", "eof:4", "reset:4", "reset:0", "eof-bytes:300", "reset-bytes:150", "duplicate:5", "replay:6", "gap:4:2", "restart", "no-done",
  "status:503:0", "refuse", "lost", "reset:3 reset:2 reset:1", "reset:4 status:500", "stall:3",
];

/** Plays each plan with a package; returns the result of each. It runs here and in the other process, so it names nothing else. */
async function play({ connect, init, allow, respond }, { fakeServer }, protocols, plans) {
  const { createHash } = await import("node:crypto");
  // Letters of one to four bytes, cut anywhere; and more than a core's first memory.
  const LONG = "An answer: größer, 東京, 👩‍🚀. ".repeat(60_000);
  function* script({ input }) {
    yield { reasoning: "Let me see." };
    const [allowed] = yield { tool: "restart", arguments: { service: "billing", n: 12345678901234567890n.toString() }, ask: true };
    yield { text: `Done: ${JSON.stringify(allowed)}. ${input.length > 0 ? "Ünïcödé 🚀" : ""}` };
  }
  await init();
  const outcomes = [];
  for (const protocol of protocols) {
    for (const plan of plans) {
      const server = fakeServer(script, { protocol });
      if (plan !== "none") server.fail(...plan.split(" "));
      const client = await connect({ ...server.connection, protocol, idleTimeout: 300, reconnect: { baseDelay: 1, maxDelay: 5, maxAttempts: 4 } });
      const session = await client.agents.createSession("agent");
      const events = [];
      const snapshots = [];
      let input = "Restart it";
      for (let left = 2; left > 0; left -= 1) {
        const turn = session.createTurn(input);
        try {
          for await (const event of turn.stream()) events.push(event);
        } catch (error) {
          events.push([error.name, error.code, error.message]);
        }
        const snapshot = turn.snapshot();
        snapshots.push(snapshot);
        if (snapshot.required_actions.length === 0) break;
        input = snapshot.required_actions.map((action) => (action.type === "tool.approval_required" ? allow(action) : respond(action, "yes")));
      }
      outcomes.push({ protocol, plan, events, snapshots });
      client.close();
    }
    const server = fakeServer(LONG, { protocol });
    const client = await connect({ ...server.connection, protocol });
    const turn = (await client.agents.createSession("agent")).createTurn("long");
    await turn.waitForCompletion();
    const text = turn.snapshot().threads[0].messages[0].content;
    outcomes.push({ protocol, plan: "long", isWhole: text === LONG, length: text.length, hash: createHash("sha256").update(text).digest("hex") });
    client.close();
  }
  return JSON.parse(JSON.stringify(outcomes).replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"time"'));
}

// Node's own HTTP client is WebAssembly, and loaded when it is first used.
const PROGRAM = `
const { createServer } = await import("node:http");
const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
await (await fetch("http://127.0.0.1:" + server.address().port)).text();
server.close().closeAllConnections();
delete globalThis.WebAssembly;
const outcomes = await (${play})(await import("${join(DIST, "nowasm.js")}"), await import("${join(DIST, "testing.js")}"), ${JSON.stringify(PROTOCOLS)}, ${JSON.stringify(FAULTS)});
process.stdout.write(JSON.stringify({ had: typeof WebAssembly, outcomes }));
`;

describe("without WebAssembly", async () => {
  const other = promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM], { timeout: LIMIT_MS, maxBuffer: 1 << 26 });
  other.catch(() => {});
  const here = play(wasm, { fakeServer }, PROTOCOLS, FAULTS);
  here.catch(() => {});

  for (const protocol of PROTOCOLS) {
    for (const plan of [...FAULTS, "long"]) {
      test(`${protocol}, ${plan}: as with it`, async () => {
        const { had, outcomes } = JSON.parse((await other).stdout);
        assert.equal(had, "undefined");
        const find = (all) => all.find((outcome) => outcome.protocol === protocol && outcome.plan === plan);
        const found = find(outcomes);
        assert.deepEqual(found, find(await here));
        if (plan === "long") assert.ok(found.isWhole && found.length > 1_000_000);
        else assert.ok(found.events.length > (plan === "refuse" ? 0 : 1));
      });
    }
  }
});

test("it exports what the other entries do, and contains no WebAssembly", async () => {
  const nowasm = await import("../dist/nowasm.js");
  assert.deepEqual(Object.keys(nowasm).sort(), Object.keys(wasm).sort());
  assert.equal(nowasm.Turn, wasm.Turn);
  assert.doesNotMatch(readFileSync(join(DIST, "nowasm.js"), "utf8"), /WebAssembly/);
});
