// The addresses in the gateway's README, as they stand there: a conversation goes through each. Needs the gateway's
// program (`TURNWIRE_GATEWAY`).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { connect } from "../dist/index.js";
import { textOf } from "./support/collect.mjs";

const PROGRAM = process.env.TURNWIRE_GATEWAY;
const options = { skip: !PROGRAM && "TURNWIRE_GATEWAY names no program" };
/** The protocols, by how the table's rows begin. */
const PROTOCOLS = {
  "TrueFoundry gateway": "truefoundry",
  TrueForge: "trueforge",
  "AgentEvent: tirea": "tirea",
  "AgentEvent: awaken": "awaken",
  "Agent Application Protocol": "aap",
  "turn-rpc": "turn-rpc",
};
const README = readFileSync(new URL("../../crates/gateway/README.md", import.meta.url), "utf8");
const ROWS = README.split("\n").filter((line) => line.startsWith("|") && line.includes("//127.0.0.1:8790"));

let gateway;
let host;

before(async () => {
  if (!PROGRAM) return;
  gateway = spawn(PROGRAM, ["--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: gateway.stdout })) {
    [, host] = /http:\/\/([\d.]+:\d+)/.exec(line) ?? [];
    if (host) break;
  }
});
after(async () => {
  if (!gateway) return;
  const ended = once(gateway, "exit");
  gateway.kill();
  await ended;
});

for (const [name, protocol] of Object.entries(PROTOCOLS)) {
  test(`${protocol}: each address of the README is a server's`, options, async (t) => {
    const row = ROWS.find((line) => line.startsWith(`| ${name}`));
    assert.ok(row, `the table has no row of ${name}`);
    const addresses = row.match(/(?:http|ws):\/\/127\.0\.0\.1:8790[^`]*/g);
    for (const address of addresses) {
      const baseUrl = address.replace("127.0.0.1:8790", host).replace("{tenant}", "acme");
      const client = await connect({ baseUrl, protocol, ...(protocol === "turn-rpc" && { webSocket: (url) => new WebSocket(url) }) });
      t.after(() => client.close());
      const session = await client.agents.createSession(protocol === "turn-rpc" ? "Chat" : "support-bot");
      const turn = session.createTurn({ input: "plain" });
      for await (const _ of turn.stream());
      assert.equal(turn.status, "done", address);
      assert.match(textOf(turn), /plain answer/);
    }
  });
}
