// Everything that a run needs, started and ended: the scripted model, the real server, a tap, the relay before
// it, a site with the built package, and headless Chromium.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, extname, join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { startModel } from "../model.mjs";
import { install } from "./page.mjs";
import { startTap } from "./tap.mjs";

const root = join(import.meta.dirname, "..", "..", "..");
const START_LIMIT_MS = 15_000;
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

/** Starts all of it, the last part last; what was started is ended even if a later part does not start. */
export async function startWorld() {
  const ends = [];
  let stopped;
  const stopAll = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  const stop = () => (stopped ??= stopAll());
  try {
    return { ...(await start((end) => ends.push(end))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(onStop) {
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

  const gateway = named("TURNWIRE_GATEWAY", join(root, "target", "debug", "turnwire-gateway"));
  const relay = run(gateway, ["relay", "--upstream", tap.url, "--listen", "127.0.0.1:0", "--log"], {
    TURNWIRE_RELAY_AUTHORIZATION: KEY,
  });
  onStop(relay.stop);
  await relay.untilReady(() => relay.output.length > 0);
  const url = relay.output[0].replace(/\/$/, "");

  const site = await startSite();
  onStop(site.stop);

  const browser = await chromium.launch({
    executablePath: named("CHROME", chrome()),
    // Whoever is told to end ends all parts, in their order.
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-component-update", "--disable-sync"],
  });
  onStop(() => browser.close());
  return { url, tap, relayLog: relay.errors, openPage: () => openPage(browser, site.url, url) };
}

/**
 * A page in a browser context of its own, with the package as `turnwire` and `kit` for tests. `page.failures`
 * collects uncaught errors.
 */
async function openPage(browser, site, relay) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.failures = [];
  page.on("pageerror", (error) => page.failures.push(String(error)));
  const load = async () => {
    await page.goto(site);
    await page.waitForFunction(() => "turnwire" in globalThis);
    await page.evaluate(install, relay);
  };
  await load();
  // As a user's reload: nothing but what the server keeps is left.
  page.reloadAll = load;
  return page;
}

/** A program that runs until it is stopped, with the lines that it prints. */
function run(program, argv, env = {}) {
  const child = spawn(program, argv, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let failure;
  const ended = new Promise((resolve) => {
    child.once("exit", (code) => resolve((failure ??= `ended with code ${code}`)));
    child.once("error", (error) => resolve((failure ??= error.message)));
  });
  const lines = (pipe) => {
    const read = [];
    createInterface({ input: pipe }).on("line", (line) => read.push(line));
    return read;
  };
  const [output, errors] = [lines(child.stdout), lines(child.stderr)];
  return {
    output,
    errors,
    async untilReady(isReady) {
      for (const until = Date.now() + START_LIMIT_MS; !(await isReady()); await pause(20)) {
        if (failure !== undefined) throw new Error(`${program} ${failure}:\n${errors.join("\n")}`);
        if (Date.now() > until) throw new Error(`${program} was not ready within ${START_LIMIT_MS} ms`);
      }
    },
    async stop() {
      process.off("exit", kill);
      child.kill();
      const timer = setTimeout(kill, 3000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** The files of the built package, and one page that loads it. */
async function startSite() {
  const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".map": "application/json" };
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><link rel="icon" href="data:,">
<title>turnwire</title></head><body>
<script type="module">globalThis.turnwire = await import("/dist/index.js");</script></body></html>`;
  const server = createServer(async ({ url }, response) => {
    const isFile = /^\/dist\/[\w.-]+$/.test(url);
    const content = isFile ? await readFile(join(root, "pkg", url)).catch(() => undefined) : page;
    response.writeHead(content === undefined ? 404 : 200, { "content-type": types[isFile ? extname(url) : ".html"] ?? "text/plain" });
    response.end(content);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The program that an environment variable names, or the usual one. */
function named(variable, usual) {
  const program = process.env[variable] || usual;
  if (program === undefined || !existsSync(program)) {
    throw new Error(`set ${variable} to its program, or run \`cargo xtask interop tirea\``);
  }
  return program;
}

const cached = (path) => join(process.env.XDG_CACHE_HOME || join(process.env.HOME ?? "", ".cache"), "turnwire", path);

function chrome() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return ["chromium", "chromium-browser", "google-chrome"].flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
