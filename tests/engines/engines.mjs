// The three browser engines, each driven over WebDriver by its own driver program. The drivers are
// started here, so that the client looks for nothing and downloads nothing.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Capabilities, WebDriver } from "selenium-webdriver";
import { Command } from "selenium-webdriver/lib/command.js";
import { Executor, HttpClient } from "selenium-webdriver/http/index.js";
import { freePort, program, start, toolFolders, webkitFolders } from "./programs.mjs";

/** The engines by name; each returns the start options of its driver and its browser. */
const RECIPES = { chromium, firefox, webkit };

/** The names of the engines. */
export const ENGINES = Object.keys(RECIPES);

/**
 * Opens a browser with a fresh profile; `close` ends it and everything that was started for it. If the
 * driver can take the network away, `setOffline` does.
 */
export async function openBrowser(engine) {
  const folder = mkdtempSync(join(tmpdir(), `turnwire-${engine}-`));
  const started = [];
  let driver;
  const close = async () => {
    await driver?.quit().catch(() => {});
    for (const { stop } of started.reverse()) await stop();
    // The browser's last processes may still write when its driver has ended.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    const port = await freePort();
    const recipe = await RECIPES[engine]({ folder, port, started });
    const url = `http://127.0.0.1:${port}`;
    started.push(await start(recipe.driver, recipe.args, { env: recipe.env, ready: () => isReady(url) }));
    driver = await WebDriver.createSession(executor(url), new Capabilities(recipe.capabilities));
    await driver.manage().setTimeouts({ script: 20_000, pageLoad: 20_000 });
    const setOffline = recipe.setOffline && ((offline) => recipe.setOffline(driver, offline));
    return { driver, version: await version(driver), setOffline, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Sends commands to a driver; knows the commands that only one driver has. */
function executor(url) {
  const executor = new Executor(new HttpClient(url));
  executor.defineCommand("setNetworkConditions", "POST", "/session/:sessionId/chromium/network_conditions");
  executor.defineCommand("setContext", "POST", "/session/:sessionId/moz/context");
  return executor;
}

function chromium({ folder, port }) {
  const args = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    `--user-data-dir=${folder}`,
  ];
  const binary = program("CHROME", ["chromium", "chromium-browser", "google-chrome"]);
  return {
    driver: program("CHROMEDRIVER", ["chromedriver"]),
    args: [`--port=${port}`],
    capabilities: { browserName: "chrome", "goog:chromeOptions": { binary, args } },
    setOffline(driver, offline) {
      const conditions = { offline, latency: 0, download_throughput: -1, upload_throughput: -1 };
      return driver.execute(new Command("setNetworkConditions").setParameter("network_conditions", conditions));
    },
  };
}

function firefox({ folder, port }) {
  const prefs = {
    "app.normandy.enabled": false,
    "app.update.disabledForTesting": true,
    "network.disable-localhost-when-offline": true,
    "network.captive-portal-service.enabled": false,
    "network.connectivity-service.enabled": false,
    // Whenever an address of this machine changes, Firefox would drop what was silent for 5 seconds.
    "network.notify.changed": false,
    "network.http.network-changed.timeout": 600,
  };
  const binary = program("FIREFOX", ["firefox-esr", "firefox"]);
  return {
    driver: program("GECKODRIVER", ["geckodriver"], toolFolders()),
    args: ["--port", String(port), "--websocket-port", "0", "--profile-root", folder, "--allow-system-access"],
    env: { HOME: folder },
    capabilities: { browserName: "firefox", "moz:firefoxOptions": { binary, args: ["-headless"], prefs } },
    async setOffline(driver, offline) {
      const enter = (context) => driver.execute(new Command("setContext").setParameter("context", context));
      await enter("chrome");
      const script = `
        Services.io.offline = arguments[0];
        if (arguments[0]) Services.obs.notifyObservers(null, "net:cancel-all-connections");`;
      await driver.executeScript(script, offline);
      await enter("content");
    },
  };
}

/** It has no headless mode: it gets a screen of its own. */
async function webkit({ folder, port, started }) {
  // It takes a free display and prints its number.
  const args = ["-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp"];
  const screen = await start(program("XVFB", ["Xvfb"]), args, {
    pipes: ["pipe"],
    ready: (child) => new Promise((resolve) => child.stdio[3].once("data", (number) => resolve(String(number).trim()))),
  });
  started.push(screen);
  const binary = program("MINIBROWSER", ["MiniBrowser"], webkitFolders());
  return {
    driver: program("WEBKITWEBDRIVER", ["WebKitWebDriver"]),
    args: [`--port=${port}`],
    env: {
      DISPLAY: `:${screen.value}`,
      HOME: folder,
      XDG_CACHE_HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
      GSETTINGS_BACKEND: "memory",
      NO_AT_BRIDGE: "1",
      // Only pages of this test are opened, and containers rarely allow the sandbox.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
    },
    capabilities: { browserName: "MiniBrowser", "webkitgtk:browserOptions": { binary, args: ["--automation"] } },
  };
}

async function isReady(url) {
  try {
    const { value } = await (await fetch(`${url}/status`)).json();
    return value.ready ? true : undefined;
  } catch {
    return undefined;
  }
}

async function version(driver) {
  const capabilities = await driver.getCapabilities();
  return capabilities.getBrowserVersion();
}
