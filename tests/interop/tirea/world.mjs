// Everything that a run needs, started and ended: the scripted model, the real server, a tap, the relay before
// it, a site with the built package, and headless Chromium.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModel } from "../model.mjs";
import { cached, freePort, named, openPage, run, startBrowser, startRelay, startSite } from "../parts.mjs";
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

/** Starts all of it. */
export async function start(onStop) {
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

  const relay = await startRelay(tap.url, { TURNWIRE_RELAY_AUTHORIZATION: KEY }, onStop);
  const site = await startSite(onStop);
  const browser = await startBrowser(onStop);
  const spoken = { relay: relay.url, protocol: "tirea", agent: "assistant", token: "of-the-page" };
  return { url: relay.url, tap, relayLog: relay.log, openPage: () => openPage(browser, site, spoken) };
}
