// The common parts of all runs against vendors' servers: programs, a site with the built package,
// headless Chromium, and pages in it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { delimiter, extname, join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { install } from "./kit.mjs";

export const root = join(import.meta.dirname, "..", "..");
const START_LIMIT_MS = 15_000;

/**
 * Starts all that `start` starts, the last part last; it is passed a function that registers the end of a part. What was
 * started is ended even if a later part does not start.
 */
export async function startWorld(start) {
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

/** Starts the relay before `upstream`, with headers that it adds. Returns its address, and its log as it grows. */
export async function startRelay(upstream, added, onStop) {
  const gateway = named("TURNWIRE_GATEWAY", join(root, "target", "debug", "turnwire-gateway"));
  const relay = run(gateway, ["relay", "--upstream", upstream, "--listen", "127.0.0.1:0", "--log"], { env: { ...process.env, ...added } });
  onStop(relay.stop);
  await relay.untilReady(() => relay.output.length > 0);
  return { url: relay.output[0].replace(/\/$/, ""), log: relay.errors };
}

/** Starts headless Chromium, with further arguments. */
export async function startBrowser(onStop, more = []) {
  const browser = await chromium.launch({
    executablePath: named("CHROME", chrome()),
    // A signal to end ends all parts, in their order.
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-component-update", "--disable-sync", ...more],
  });
  onStop(() => browser.close());
  return browser;
}

/**
 * A page of a site in a browser context of its own, with the package as `turnwire`, and `kit` for tests of a server
 * (`relay`, `protocol`, `agent`, and `token` if pages have one). `page.failures` collects uncaught errors.
 */
export async function openPage(browser, site, server) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.failures = [];
  page.on("pageerror", (error) => page.failures.push(String(error)));
  const load = async () => {
    await page.goto(site);
    await page.waitForFunction(() => "turnwire" in globalThis);
    await page.evaluate(install, server);
  };
  await load();
  // As a user's reload: nothing but what the server keeps is left.
  page.reloadAll = load;
  return page;
}

/** A program that runs until it is stopped, with the lines that it prints. `options` are those of `spawn`. */
export function run(program, argv, options = {}) {
  const child = spawn(program, argv, { ...options, stdio: ["ignore", "pipe", "pipe"] });
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

/** Serves the files of the built package, and one page that loads it. Returns its address. */
export async function startSite(onStop) {
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
  onStop(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${server.address().port}/`;
}

/** A port that was free a moment ago. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The program that an environment variable names, or the usual one. */
export function named(variable, usual) {
  const program = process.env[variable] || usual;
  if (program === undefined || !existsSync(program)) {
    throw new Error(`set ${variable} to its program, or run \`cargo xtask interop\` with the server's name`);
  }
  return program;
}

export const cached = (path) => join(process.env.XDG_CACHE_HOME || join(process.env.HOME ?? "", ".cache"), "turnwire", path);

function chrome() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return ["chromium", "chromium-browser", "google-chrome"].flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
