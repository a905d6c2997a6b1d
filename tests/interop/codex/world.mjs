// Everything that a run needs, started and ended: the scripted model, the real Codex app-server, a tap, the relay
// before it, a site with the built package, and headless Chromium.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePort, named, openPage, root, run, startBrowser, startRelay, startSite } from "../parts.mjs";
import { startResponses } from "../responses.mjs";
import { startTap } from "./tap.mjs";

/** The secret that the server demands, the relay adds, and no page knows. */
export const KEY = "capability-of-the-relay";
/** A host whose pages are of another origin; the browser finds it on this machine. */
export const FOREIGN = "foreign.test";

/** The server's settings: no account, no retries, commands that need the user's consent, and sub-agents of sub-agents. */
const config = (model) => `model = "mock-1"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[agents]
max_depth = 2

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "${model}"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
`;

/** Starts all of it. */
export async function start(onStop) {
  const { tap, ...server } = await startServer(onStop);
  const relay = await startRelay(`ws://${tap.address}`, { TURNWIRE_RELAY_AUTHORIZATION: `Bearer ${KEY}` }, onStop);
  return { ...server, tap, openPage: await startPages(relay.url, onStop) };
}

/** The same with turnwire-relay, which holds the sockets. */
export async function startHeld(onStop) {
  const { tap, folder, ...server } = await startServer(onStop);
  const config = join(folder, "relay.toml");
  writeFileSync(config, held(tap.address));
  const program = named("TURNWIRE_RELAY", join(root, "target", "debug", "turnwire-relay"));
  const relay = run(program, ["serve", config], { env: { ...process.env, RELAY_KEY: `Bearer ${KEY}` } });
  onStop(relay.stop);
  await relay.untilReady(() => relay.output.length > 0);
  const url = `${relay.output[0].replace(/\/$/, "")}/codex`;
  return { ...server, tap, url, openPage: await startPages(url, onStop) };
}

/** The config of a relay before this address. */
const held = (address) => `listen = "127.0.0.1:0"
[identity.none]
[upstream.codex]
protocol = "codex"
url = "ws://${address}"
sessions = "open"
headers.authorization = "env:RELAY_KEY"
[limits]
sockets_per_subject = 100
`;

/** The scripted model, the real server, and the tap before it. */
async function startServer(onStop) {
  const folder = mkdtempSync(join(tmpdir(), "turnwire-interop-"));
  onStop(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const [home, work] = ["home", "work"].map((name) => join(folder, name));
  for (const path of [home, work]) mkdirSync(path);

  const model = await startResponses();
  onStop(model.stop);

  writeFileSync(join(home, "config.toml"), config(model.url));
  writeFileSync(join(folder, "key"), KEY);
  const address = `127.0.0.1:${await freePort()}`;
  const argv = ["app-server", "--listen", `ws://${address}`, "--ws-auth", "capability-token", "--ws-token-file", join(folder, "key")];
  const server = run(codex(), argv, { cwd: work, env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home } });
  onStop(server.stop);
  await server.untilReady(() => fetch(`http://${address}/readyz`).then(({ ok }) => ok, () => false));

  const tap = await startTap(address);
  onStop(tap.stop);

  return { address, tap, model, work, folder };
}

/** Opens pages that call this address. */
async function startPages(url, onStop) {
  const site = await startSite(onStop);
  const browser = await startBrowser(onStop, [`--host-resolver-rules=MAP ${FOREIGN} 127.0.0.1`]);
  const spoken = { relay: url, protocol: "codex", agent: "codex" };
  return (host = "127.0.0.1") => openPage(browser, site.replace("127.0.0.1", host), spoken);
}

/** The package's program for this machine, without the process of its launcher in JavaScript. */
function codex() {
  const require = createRequire(import.meta.url);
  const platform = `@openai/codex-${process.platform}-${process.arch}/package.json`;
  const own = (() => {
    try {
      return dirname(require.resolve(platform));
    } catch {
      throw new Error("the package @openai/codex is not installed: run `cargo xtask interop codex`");
    }
  })();
  const arch = { x64: "x86_64", arm64: "aarch64" }[process.arch];
  const system = { linux: "unknown-linux-musl", darwin: "apple-darwin" }[process.platform];
  const program = join(own, "vendor", `${arch}-${system}`, "bin", "codex");
  if (!existsSync(program)) throw new Error(`${program} is not there`);
  return program;
}
