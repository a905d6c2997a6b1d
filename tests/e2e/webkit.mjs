// WebKit for the end-to-end tests. Playwright drives only a WebKit of its own, so this drives the system's over WebDriver:
// as much of Playwright's page as the tests of the package need. The tests of the demo need more, and leave WebKit out.
import { setTimeout as sleep } from "node:timers/promises";
import { openBrowser } from "../engines/engines.mjs";

const POLL_MS = 20;
const LIMIT_MS = 30_000;

/** Runs in the page: collects its failures. */
function keepFailures() {
  globalThis.failures = [];
  const keep = (failure) => globalThis.failures.push(String(failure));
  addEventListener("error", (event) => event.error && keep(event.error));
  addEventListener("unhandledrejection", ({ reason }) => keep(reason));
  const { error } = console;
  console.error = (...told) => (keep(told.join(" ")), error.apply(console, told));
}

/** Starts the browser. Each page is a tab. */
export async function launchWebKit() {
  const { driver, close } = await openBrowser("webkit");
  const tabs = new Tabs(driver);
  return {
    newContext: async () => ({ newPage: async () => new WebKitPage(tabs, await tabs.open()) }),
    close,
  };
}

/** The tabs of a driver that takes one command at a time, for one tab. */
class Tabs {
  #driver;
  #commands = Promise.resolve();
  #current;

  constructor(driver) {
    this.#driver = driver;
  }

  open() {
    return this.#next(async () => {
      await this.#driver.switchTo().newWindow("window");
      return (this.#current = await this.#driver.getWindowHandle());
    });
  }

  /** Runs a command in a tab. */
  in(tab, command) {
    return this.#next(async () => {
      if (this.#current !== tab) await this.#driver.switchTo().window(tab);
      this.#current = tab;
      return command(this.#driver);
    });
  }

  #next(command) {
    const answer = this.#commands.then(command);
    this.#commands = answer.catch(() => {});
    return answer;
  }
}

class WebKitPage {
  failures = [];
  #command;
  #scripts = [keepFailures];

  constructor(tabs, tab) {
    this.#command = (command) => tabs.in(tab, command);
  }

  on() {}

  context() {
    return { close: async () => {} };
  }

  /** Unlike Playwright's, these run once the page is loaded. */
  async addInitScript(script) {
    this.#scripts.push(script);
  }

  async goto(url) {
    await this.#command((driver) => driver.get(url));
    for (const script of this.#scripts) await this.#run(`(${script})()`);
  }

  async reload() {
    await this.goto(await this.#command((driver) => driver.getCurrentUrl()));
  }

  waitForTimeout(milliseconds) {
    return sleep(milliseconds).then(() => this.#takeFailures());
  }

  async waitForFunction(condition, argument) {
    for (const limit = Date.now() + LIMIT_MS; !(await this.evaluate(condition, argument)); await sleep(POLL_MS)) {
      if (Date.now() > limit) throw new Error(`the page does not come to ${condition}`);
    }
  }

  /** Several may run at once: their results are polled. */
  async evaluate(code, argument) {
    const id = await this.#run(
      `globalThis.results ??= [];
      const id = results.push(undefined) - 1;
      const given = arguments[0] === null ? undefined : JSON.parse(arguments[0]);
      // In a task of the page: in the driver's own, WebKit runs microtasks in the middle of a call.
      new Promise((resolve) => setTimeout(resolve)).then(() => (${code})(given)).then(
        (value) => { results[id] = { value: JSON.stringify(value) ?? null }; },
        (error) => { results[id] = { failure: String(error) + "\\n" + error?.stack }; },
      );
      return id;`,
      argument === undefined ? null : JSON.stringify(argument),
    );
    for (const limit = Date.now() + LIMIT_MS; Date.now() < limit; await sleep(POLL_MS)) {
      const result = await this.#run("return results[arguments[0]] ?? null", id);
      if (result === null) continue;
      await this.#takeFailures();
      if (result.failure !== undefined) throw new Error(`page.evaluate: ${result.failure}`);
      return result.value === null ? undefined : JSON.parse(result.value);
    }
    throw new Error("page.evaluate: the page does not answer");
  }

  async #takeFailures() {
    this.failures.push(...(await this.#run("return globalThis.failures.splice(0)")));
  }

  #run(script, ...given) {
    return this.#command((driver) => driver.executeScript(script, ...given));
  }
}
