// Headless Chromium as an engine: each group of rows in a separate page.
import { createServer } from "node:http";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, extname, join, normalize } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { chromium } from "playwright-core";
import { marksOf, spansOf } from "../marks.mjs";

export const name = "Chromium";

const TYPES = { ".js": "text/javascript", ".html": "text/html", ".wasm": "application/wasm", ".map": "application/json" };
const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>bench</title>
<script type="module">globalThis.inside = await import("/bundles/inside.js");</script>`;

const ARGS = ["--no-sandbox", "--disable-gpu", "--js-flags=--expose-gc --no-flush-bytecode"];

/** Starts the engine. `folder` has the bundles; a package is a folder with `dist/`. */
export async function start({ folder, packages }) {
  const server = await serve({ bundles: folder, ...Object.fromEntries(packages.map((path, at) => [`package${at}`, path])) });
  const origin = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({ executablePath: program(), args: ARGS });
  return {
    version: browser.version(),
    urls: { bundle: (module) => `/bundles/${module}.js`, package: (at, entry = "index") => `/package${at}/dist/${entry}.js` },
    open: () => newPage(browser, origin),
    profile: () => newProfile(origin),
    async stop() {
      await browser.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A page in a new context, in which nothing is cached. */
async function newPage(browser, origin) {
  const context = await browser.newContext();
  const page = await loaded(await context.newPage(), origin);
  let devtools;
  return {
    call: page.call,
    /** Calls, and returns with the result the processor time of what the page marked. */
    async timed(...given) {
      let result;
      const trace = await traced(browser, page.page, "blink.user_timing", async () => {
        result = await page.call(...given);
      });
      return { ...result, spans: spansOf(marksOf(trace)) };
    },
    traceTasks: (during) => traceTasks(browser, page.page, during),
    /** The milliseconds that scripts have run since the page was opened. */
    async scripting() {
      devtools ??= await context.newCDPSession(page.page);
      await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
      const { metrics } = await devtools.send("Performance.getMetrics");
      return 1000 * metrics.find(({ name }) => name === "ScriptDuration").value;
    },
    /** The bytes that live objects of JavaScript take. */
    async heapBytes() {
      const session = await context.newCDPSession(page.page);
      await session.send("HeapProfiler.enable");
      for (let round = 0; round < 3; round += 1) await session.send("HeapProfiler.collectGarbage");
      const { usedSize } = await session.send("Runtime.getHeapUsage");
      await session.detach();
      return usedSize;
    },
    close: () => context.close(),
  };
}

/** A browser with a profile on disk, which keeps what scripts were compiled to. */
async function newProfile(origin) {
  const folder = mkdtempSync(join(tmpdir(), "turnwire-bench-"));
  const context = await chromium.launchPersistentContext(folder, { executablePath: program(), args: ARGS });
  return {
    async open() {
      const { page, call } = await loaded(await context.newPage(), origin);
      return { call, close: () => page.close() };
    },
    async stop() {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function loaded(page, origin) {
  await page.goto(origin);
  await page.waitForFunction(() => "inside" in globalThis);
  return { page, call: (name, ...given) => page.evaluate(([name, given]) => globalThis.inside[name](...given), [name, given]) };
}

/** The events of these categories that happen meanwhile. */
async function traced(browser, page, categories, during) {
  await browser.startTracing(page, { categories: ["-*", categories] });
  await during();
  return JSON.parse(await browser.stopTracing()).traceEvents;
}

/** The milliseconds of processor time of each task that the page's main thread does meanwhile. */
async function traceTasks(browser, page, during) {
  const events = await traced(browser, page, "disabled-by-default-devtools.timeline", during);
  const [{ processId }] = events.find(({ name }) => name === "TracingStartedInBrowser").args.data.frames;
  const main = events.find(({ name, pid, args }) => name === "thread_name" && pid === processId && args.name === "CrRendererMain");
  return events.filter(({ name, pid, tid }) => name === "RunTask" && pid === processId && tid === main.tid).map(({ tdur }) => (tdur ?? 0) / 1000);
}

/** Serves folders by name, compressed as on the web, and the page. Isolated pages have a clock of 5 µs in place of 100. */
async function serve(folders) {
  const compressed = new Map();
  const server = createServer((request, response) => {
    const [, name, ...rest] = new URL(request.url, "http://page").pathname.split("/");
    const headers = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };
    if (name === "") return void response.writeHead(200, { ...headers, "content-type": "text/html" }).end(PAGE);
    const file = folders[name] && join(folders[name], normalize(`/${rest.join("/")}`));
    if (!file || !existsSync(file)) return void response.writeHead(404).end();
    if (!compressed.has(file)) compressed.set(file, brotliCompressSync(readFileSync(file)));
    response.writeHead(200, { ...headers, "content-type": TYPES[extname(file)] ?? "text/plain", "content-encoding": "br", "cache-control": "max-age=3600" });
    response.end(compressed.get(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function program() {
  if (process.env.CHROME) return process.env.CHROME;
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (found === undefined) throw new Error("no Chromium on the PATH: set CHROME to its program");
  return found;
}
