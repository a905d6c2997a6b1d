// The local addresses in the documents, exactly as written there: a turn goes through each of the gateway's and
// the relay's. Needs the gateway's program (`TURNWIRE_GATEWAY`).
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { WebSocket } from "ws";
import { connect } from "../dist/index.js";
import { textOf } from "./support/collect.mjs";
import { startProgram, useGateway, WITH_GATEWAY } from "./support/gateway.mjs";

const ROOT = join(import.meta.dirname, "..", "..");
const ADDRESS = /(?:https?|wss?):\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?[^\s`"'),;|\\]*/g;
/** Where documents have the gateway listen: the demo's, and by itself. */
const GATEWAY = /^(?:http|ws):\/\/127\.0\.0\.1:(?:8787|8790)(?=\/|$)/;
const RELAY = /^(?:http|ws):\/\/127\.0\.0\.1:8791\/?$/;
/** What is below turnwire-relay. Another test plays its guide. */
const GUIDED = /^http:\/\/127\.0\.0\.1:8791\/agents\//;
/** Programs that are not ours, which examples put a relay before; and a page. */
const OTHERS = ["ws://localhost:17878", "ws://127.0.0.1:4021", "http://localhost:5173"];
/** The gateway's protocol below each path. A tenant may have any name. */
const PROTOCOLS = {
  "/{tenant}": "truefoundry",
  "/demo": "truefoundry",
  "": "trueforge",
  "/": "trueforge",
  "/tirea": "tirea",
  "/awaken": "awaken",
  "/awaken-plain": "awaken",
  "/aap": "aap",
  "/turn-rpc": "turn-rpc",
  "/ag-ui": "ag-ui",
};

const markdownIn = (folder) => readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".md")).map((name) => join(folder, name));
const DOCUMENTS = [...markdownIn(""), ...markdownIn("docs"), ...markdownIn("docs/guides"), "crates/gateway/README.md", "llms.txt"];
/** The documents by the addresses that they name. */
const NAMED = new Map();
for (const document of DOCUMENTS) {
  const text = readFileSync(join(ROOT, document), "utf8");
  const own = text.match(ADDRESS) ?? [];
  // A table names the endpoints of AG-UI by their paths.
  const endpoints = document.startsWith("crates") ? [...text.matchAll(/^\| `(\/ag-ui[^`]*)` \|/gm)].map(([, path]) => `http://127.0.0.1:8790${path}`) : [];
  for (const address of [...own, ...endpoints]) {
    // What a bundler's configuration adds to pass on what is below.
    const base = address.replace(/\/:path\*$/, "");
    NAMED.set(base, new Set([...(NAMED.get(base) ?? []), document]));
  }
}
const gatewayAddresses = [...NAMED.keys()].filter((address) => GATEWAY.test(address));

const gateway = useGateway();

/** The gateway's agents speak without pauses. */
const FAST = { "x-turnwire-delay-ms": "0" };

/** A turn by the package, as from a page that this machine serves. */
async function playTurn(t, baseUrl, protocol) {
  const webSocket = (url) => new WebSocket(url, { origin: "http://localhost:5173", headers: FAST });
  const client = await connect({ baseUrl, protocol, ...(baseUrl.startsWith("ws") ? { webSocket } : { headers: FAST }) });
  t.after(() => client.close());
  const session = await client.agents.createSession(protocol === "turn-rpc" ? "Chat" : "support-bot");
  const turn = session.createTurn("plain");
  await turn.waitForCompletion();
  assert.equal(turn.status, "done");
  assert.match(textOf(turn), /plain answer/);
}

for (const address of gatewayAddresses) {
  test(`${address} belongs to a server`, WITH_GATEWAY, async (t) => {
    const path = address.replace(GATEWAY, "");
    const protocol = PROTOCOLS[path] ?? (path.startsWith("/ag-ui/") ? "ag-ui" : undefined);
    assert.ok(protocol, `${[...NAMED.get(address)]}: the gateway speaks nothing there`);
    const host = `${address.split(":")[0]}:${gateway.url.replace(/^http:/, "")}`;
    await playTurn(t, host + path.replace("{tenant}", "acme").replace("{agent}", "support-bot"), protocol);
  });
}

test("each protocol is tried at an address that a document names, in the README of the gateway too", () => {
  const tried = (addresses) => new Set(addresses.map((address) => PROTOCOLS[address.replace(GATEWAY, "")]).filter(Boolean));
  const all = new Set(Object.values(PROTOCOLS));
  assert.deepEqual(tried(gatewayAddresses.filter((address) => NAMED.get(address).has(join("crates", "gateway", "README.md")))), all);
  assert.ok(gatewayAddresses.some((address) => NAMED.get(address).has("README.md")));
});

test("documents name no other address on this machine than these, the relay's, and those of programs that are not ours", () => {
  const unknown = [...NAMED].filter(([address]) => !GATEWAY.test(address) && !RELAY.test(address) && !GUIDED.test(address) && !OTHERS.includes(address));
  assert.deepEqual(unknown, []);
});

/** What of the gateway stands behind a relay, what is below its address, and what is spoken there. Servers with sockets have no path. */
const RELAYED = { "http:": ["/demo", "", "truefoundry"], "ws:": ["", "/turn-rpc", "turn-rpc"] };
for (const address of [...NAMED.keys()].filter((address) => RELAY.test(address))) {
  test(`${address} is the relay's, before the server that it is started with`, WITH_GATEWAY, async (t) => {
    const { protocol: scheme } = new URL(address);
    const [upstream, below, protocol] = RELAYED[scheme];
    const relay = await startProgram("relay", "--upstream", scheme + gateway.url.replace(/^http:/, "") + upstream, "--listen", "127.0.0.1:0");
    t.after(relay.stop);
    await playTurn(t, address.replace(RELAY, scheme + relay.url.replace(/^http:/, "") + below), protocol);
  });
}
