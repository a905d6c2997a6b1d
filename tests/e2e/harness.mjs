// The base of end-to-end tests: a gateway process, a headless browser, and pages in which the built
// package is loaded. `cargo xtask test` names the programs by TURNWIRE_GATEWAY, CHROME and FIREFOX; run by
// hand, the tests take them from target/debug and the PATH. TURNWIRE_ENGINE selects the browser,
// TURNWIRE_ENTRY the entry of the package.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { chromium, firefox } from "playwright-core";
import { program } from "../engines/programs.mjs";
import { launchWebKit } from "./webkit.mjs";

const root = join(import.meta.dirname, "..", "..");
const START_LIMIT_MS = 15_000;

/** The browser that the tests run in. */
export const ENGINE = process.env.TURNWIRE_ENGINE ?? "chromium";

/** The entry of the package that pages load. */
const ENTRY = process.env.TURNWIRE_ENTRY ?? "index";

/** For tests that stop processes, measure memory or read what is posted. */
export const CHROMIUM_ONLY = { skip: ENGINE !== "chromium" && "only Chromium's own protocol can do this" };

/** For tests that watch requests or change them, or take the network away. */
export const NOT_WEBKIT = { skip: ENGINE === "webkit" && "WebDriver, which drives WebKit, cannot do this" };

/** How each browser is started, with names that it finds on this machine. */
const BROWSERS = {
  chromium(hosts) {
    const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-component-update", "--disable-sync"];
    const mapped = hosts.map((host) => `MAP ${host} 127.0.0.1`);
    if (mapped.length > 0) args.push(`--host-resolver-rules=${mapped.join(",")}`);
    return chromium.launch({ executablePath: program("CHROME", ["chromium", "chromium-browser", "google-chrome"]), args });
  },
  // The channel drives an installed Firefox over WebDriver BiDi.
  firefox(hosts) {
    const MOUSE = 6; // a fine pointer that hovers: without a screen Firefox has none
    const firefoxUserPrefs = {
      "network.dns.localDomains": hosts.join(","),
      "ui.primaryPointerCapabilities": MOUSE,
      "ui.allPointerCapabilities": MOUSE,
    };
    return firefox.launch({ executablePath: program("FIREFOX", ["firefox-esr", "firefox"]), channel: "moz-firefox", firefoxUserPrefs });
  },
  webkit: () => launchWebKit(),
};

/**
 * Registers the start and the end of a gateway and a browser for one test file.
 *
 * `www` is the folder that the gateway serves; by default one with blank pages beside `dist/`:
 * `/` loads the package as `globalThis.turnwire`, `/csp.html` does so under a policy that forbids
 * WebAssembly.
 *
 * `hosts` are names that the browser finds on this machine, whose pages belong to other sites.
 */
export function useWorld({ www, hosts = [] } = {}) {
  const world = new World(hosts);
  before(() => world.start(www ?? world.makeSite()));
  after(() => world.stop());
  return world;
}

class World {
  #gateway;
  #browser;
  #site;
  #hosts;

  constructor(hosts) {
    this.#hosts = hosts;
  }

  /** Where the gateway listens, such as `http://127.0.0.1:40123`. */
  get url() {
    return this.#gateway.url;
  }

  /**
   * Opens a page in a browser context of its own; with the default site, `turnwire` is loaded.
   * `page.failures` collects uncaught errors and console errors of the page. `prepare` gets the page
   * before it is loaded.
   */
  async page(path = "/", prepare = () => {}) {
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    page.failures = [];
    page.on("pageerror", (error) => page.failures.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") page.failures.push(message.text());
    });
    await prepare(page);
    await page.goto(this.url + path);
    // By a timer: a test may have taken the page's frames away.
    const polling = 20;
    if (this.#site !== undefined) await page.waitForFunction(() => "turnwire" in globalThis, null, { polling });
    return page;
  }

  /** A folder with the built package and the pages that load it. */
  makeSite() {
    this.#site = mkdtempSync(join(tmpdir(), "turnwire-e2e-"));
    cpSync(join(root, "pkg", "dist"), join(this.#site, "dist"), { recursive: true });
    writeFileSync(join(this.#site, "index.html"), html());
    writeFileSync(join(this.#site, "csp.html"), html("script-src 'self' 'unsafe-inline'"));
    return this.#site;
  }

  async start(www) {
    this.#gateway = await startGateway(www);
    this.#browser = await BROWSERS[ENGINE](this.#hosts);
  }

  async stop() {
    await this.#browser?.close();
    await this.#gateway?.stop();
    if (this.#site !== undefined) rmSync(this.#site, { recursive: true, force: true });
  }
}

function html(policy) {
  const meta = policy ? `<meta http-equiv="Content-Security-Policy" content="${policy}">` : "";
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">${meta}
<link rel="icon" href="data:,"><title>turnwire</title></head><body>
<script type="module">globalThis.turnwire = await import("/dist/${ENTRY}.js");</script></body></html>
`;
}

/** Starts the development gateway on a free port, with further arguments, and waits for the line with its URL. */
export function startGateway(www, argv = []) {
  return start(["--listen", "127.0.0.1:0", "--www", www, ...argv]);
}

/** Starts the relay before `upstream`, with further arguments and variables of its environment. */
export function startRelay(upstream, { port = 0, argv = [], variables }) {
  return start(["relay", "--upstream", upstream, "--listen", `127.0.0.1:${port}`, ...argv], variables);
}

async function start(argv, variables = {}) {
  const program = process.env.TURNWIRE_GATEWAY ?? join(root, "target", "debug", "turnwire-gateway");
  const child = spawn(program, argv, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...variables },
  });
  const kill = () => child.kill();
  process.once("exit", kill);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const url = await firstUrl(child, program);
  return {
    url,
    async stop() {
      process.off("exit", kill);
      child.kill();
      await ended;
    },
  };
}

function firstUrl(child, program) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill();
      reject(new Error(`${program} printed no URL within ${START_LIMIT_MS} ms`));
    }, START_LIMIT_MS);
    const settle = (action) => {
      clearTimeout(timer);
      action();
    };
    child.once("error", (cause) => settle(() => reject(new Error(`cannot start ${program}`, { cause }))));
    child.once("exit", (code) => settle(() => reject(new Error(`${program} ended with code ${code}`))));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /http:\/\/[\w.:[\]]+/.exec(line)?.[0];
      if (url !== undefined) settle(() => resolve(url));
    });
  });
}
