// The base of the cases: agents that answer fast and slowly, a relay before them or several with one log, which can be killed, and
// a gateway before these, which makes the faults, serves the page, and sends each request to the next relay.
import { once } from "node:events";
import { createServer } from "node:http";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Relay } from "../../../pkg/test/support/relay.mjs";
import { startGateway } from "../../e2e/harness.mjs";
import { Gateway } from "../gateway.mjs";
import { freePort } from "../programs.mjs";
import { startRedis } from "./redis.mjs";

const built = join(import.meta.dirname, "..", "..", "..", "pkg", "dist");
const pages = join(import.meta.dirname, "..", "page");

/** The pause of an agent between two events, in milliseconds, by the agent's name in the upstream. */
const AGENTS = { fast: 1, slow: 10 };

/** The relay's upstreams: each protocol of each agent. */
const upstreams = (urls) =>
  Object.entries(urls).flatMap(([pace, url]) => ["aap", "tirea"].map((name) => `[upstream.${name}-${pace}]\nprotocol = "${name}"\nurl = "${url}/${name}"`));

/** How long a relay with a log in Redis is silent until the others end its turns: no shorter time is allowed. */
const TAKEOVER = 'takeover = "3s"';

const config = (urls, admin, redis) => ({ port, folder }) => `
listen = "127.0.0.1:${port}"
admin = "127.0.0.1:${admin}"
drain = "1s"
[identity.none]
${upstreams(urls).join("\n")}
[log]
${redis ? `store = "${redis}"\n${TAKEOVER}` : `store = "sqlite:${folder}/turns.db"`}
[limits]
starts_per_minute = 100000
turns_per_subject = 1000
streams_per_subject = 1000
`;

/** Starts all of it: this many relays, with a log in SQLite if it is one, and in Redis otherwise. */
export async function startRelayed(count) {
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
  const redis = count > 1 ? await startRedis() : undefined;
  if (redis) stops.push(redis.stop);
  const relays = [];
  while (relays.length < count) {
    const admin = await freePort();
    const relay = await Relay.open(config(urls, admin, redis?.url));
    stops.push(() => relay.close());
    relays.push({ relay, admin });
  }
  const addresses = relays.map(({ relay }) => relay.url);
  const { url, stop } = await startGateway(site, addresses.flatMap((address) => ["--relay", address]));
  stops.push(stop);
  const crash = await serveCrashes(relays);
  stops.push(crash.stop);
  return {
    url,
    /** Any relay. */
    relay: addresses[0],
    crash: crash.url,
    /** The gateway that makes the faults before the relay. */
    front: new Gateway(url),
    /** The agents, by their pace. */
    agents: Object.fromEntries(Object.entries(urls).map(([pace, url]) => [pace, { url, gateway: new Gateway(url) }])),
    async stop() {
      for (const stop of stops.reverse()) await stop();
    },
  };
}

/** The turns of a session that still run. */
export async function openTurns(relay, agent, session) {
  const response = await fetch(`${relay}/${agent}/_turnwire/v1/turns?session=${session}&state=open`);
  return (await response.json()).turns.length;
}

/** Where a page asks that the turn's relay crashes, `/AGENT/SESSION/crash`, or that all do when it has ended, `…/crash-ended`. */
async function serveCrashes(relays) {
  const server = createServer(async ({ url }, response) => {
    const [, agent, session, how] = url.split("/");
    const any = relays[0].relay.url;
    if (how === "crash-ended") {
      while ((await openTurns(any, agent, session)) > 0) await sleep(10);
      for (const { relay } of relays) await relay.restart();
    } else {
      const turns = await Promise.all(relays.map(({ admin }) => ownedTurns(admin)));
      await relays[Math.max(turns.findIndex((count) => count > 0), 0)].relay.restart();
    }
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

/** The number of running turns that the relay with its metrics at this port owns. */
async function ownedTurns(admin) {
  const metrics = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
  return Number(/^turnwire_relay_turns_open (\d+)/m.exec(metrics)[1]);
}
