// Everything that a run needs, started and ended: the scripted model, the real server, a tap, the relay before
// it, a site with the built package, and headless Chromium.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModel } from "../model.mjs";
import { cached, freePort, named, openPage, root, run, startBrowser, startRelay, startSite } from "../parts.mjs";
import { startTap } from "./tap.mjs";

/** What the relay adds to each request, and no page knows. */
export const KEY = "Bearer sk-interop";

/** The agents of the server, all with the scripted model. */
const agents = (model) => ({
  providers: { scripted: { endpoint: model, auth: { kind: "token", value: "sk-mock" }, adapter_kind: "openai" } },
  models: { one: { provider: "scripted", model: "mock-1" } },
  agents: [
    { id: "assistant" },
    // Asks for consent before each call.
    { id: "approver", behavior_ids: ["tool_policy", "permission"] },
    { id: "stopper", stop_condition_specs: [{ type: "stop_on_tool", tool_name: "finish" }] },
  ].map((agent) => ({ kind: "local", model: "one", system_prompt: "You are a test.", ...agent })),
});

/** The config of a relay that keeps what passes the tap. */
const kept = (tap, folder) => `
listen = "127.0.0.1:0"
drain = "1s"
[identity.none]
[upstream.tirea]
protocol = "tirea"
url = "${tap}"
headers.authorization = "env:RELAY_KEY"
[log]
store = "sqlite:${folder}/turns.db"
`;

/** Starts all of it, with the development gateway's relay. */
export async function start(onStop) {
  const { tap } = await startServer(onStop);
  const relay = await startRelay(tap.url, { TURNWIRE_RELAY_AUTHORIZATION: KEY }, onStop);
  return { url: relay.url, tap, relayLog: relay.log, openPage: await startPages(relay.url, false, onStop) };
}

/** Starts all of it, with a relay that keeps turns. */
export async function startKept(onStop) {
  const { tap, folder } = await startServer(onStop);
  const config = join(folder, "relay.toml");
  writeFileSync(config, kept(tap.url, folder));
  const program = named("TURNWIRE_RELAY", join(root, "target", "debug", "turnwire-relay"));
  const relay = run(program, ["serve", config], { env: { ...process.env, RELAY_KEY: KEY } });
  onStop(relay.stop);
  await relay.untilReady(() => relay.output.length > 0);
  const url = `${relay.output[0].replace(/\/$/, "")}/tirea`;
  return { url, tap, openPage: await startPages(url, true, onStop) };
}

/** The scripted model, the real server and the tap before it. */
async function startServer(onStop) {
  const folder = mkdtempSync(join(tmpdir(), "turnwire-interop-"));
  onStop(() => rmSync(folder, { recursive: true, force: true }));

  const model = await startModel();
  onStop(model.stop);

  writeFileSync(join(folder, "agents.json"), JSON.stringify(agents(model.url)));
  const address = `127.0.0.1:${await freePort()}`;
  const server = run(named("TIREA_SERVER", cached("tirea-agentos-server-0.5.0/bin/tirea-agentos-server")), [
    ...["--http-addr", address, "--storage-dir", join(folder, "threads"), "--config", join(folder, "agents.json")],
  ]);
  onStop(server.stop);
  await server.untilReady(() => fetch(`http://${address}/health`).then(({ ok }) => ok, () => false));

  const tap = await startTap(`http://${address}`);
  onStop(tap.stop);

  return { tap, folder };
}

/** Opens pages that call this address. */
async function startPages(url, isKept, onStop) {
  const site = await startSite(onStop);
  const browser = await startBrowser(onStop);
  const spoken = { relay: url, protocol: "tirea", agent: "assistant", isKept, ...(!isKept && { token: "of-the-page" }) };
  return () => openPage(browser, site, spoken);
}
