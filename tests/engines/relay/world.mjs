// What the cases stand on: agents that answer fast and slowly, a relay before them that can be killed, and a gateway before that
// relay, which makes the faults and serves the page.
import { once } from "node:events";
import { createServer } from "node:http";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Relay } from "../../../pkg/test/support/relay.mjs";
import { startGateway } from "../../e2e/harness.mjs";
import { Gateway } from "../gateway.mjs";

const built = join(import.meta.dirname, "..", "..", "..", "pkg", "dist");
const pages = join(import.meta.dirname, "..", "page");

/** The pause of an agent between two events, in milliseconds, by what its upstream is named after. */
const AGENTS = { fast: 1, slow: 10 };

/** The relay's upstreams: each protocol of each agent. */
const upstreams = (urls) =>
  Object.entries(urls).flatMap(([pace, url]) => ["aap", "tirea"].map((name) => `[upstream.${name}-${pace}]\nprotocol = "${name}"\nurl = "${url}/${name}"`));

const config = (urls) => ({ port, folder }) => `
listen = "127.0.0.1:${port}"
drain = "1s"
[identity.none]
${upstreams(urls).join("\n")}
[log]
store = "sqlite:${folder}/turns.db"
[limits]
starts_per_minute = 100000
turns_per_subject = 1000
streams_per_subject = 1000
`;

/** Starts all of it. */
export async function startRelayed() {
  const site = mkdtempSync(join(tmpdir(), "turnwire-relayed-"));
  cpSync(pages, site, { recursive: true });
  cpSync(built, join(site, "dist"), { recursive: true });
  const stops = [() => rmSync(site, { recursive: true, force: true })];
  const urls = {};
  for (const [pace, delay] of Object.entries(AGENTS)) {
    const { url, stop } = await startGateway(site, ["--delay-ms", String(delay)]);
    urls[pace] = url;
    stops.push(stop);
  }
  const relay = await Relay.open(config(urls));
  stops.push(() => relay.close());
  const { url, stop } = await startGateway(site, ["--relay", relay.url]);
  stops.push(stop);
  const crash = await serveCrashes(relay);
  stops.push(crash.stop);
  return {
    url,
    relay,
    crash: crash.url,
    /** What makes the faults before the relay. */
    front: new Gateway(url),
    /** The agents, by their pace. */
    agents: Object.fromEntries(Object.entries(urls).map(([pace, url]) => [pace, { url, gateway: new Gateway(url) }])),
    async stop() {
      for (const stop of stops.reverse()) await stop();
    },
  };
}

/** The turns of a session that a relay still writes. */
export async function openTurns(relay, agent, session) {
  const response = await fetch(`${relay.url}/${agent}/_turnwire/v1/turns?session=${session}&state=open`);
  return (await response.json()).turns.length;
}

/** Where a page asks for a crash, `/AGENT/SESSION/crash`, or for one when the turn has ended, `…/crash-ended`. */
async function serveCrashes(relay) {
  const server = createServer(async ({ url }, response) => {
    const [, agent, session, how] = url.split("/");
    while (how === "crash-ended" && (await openTurns(relay, agent, session)) > 0) await sleep(10);
    await relay.restart();
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}
