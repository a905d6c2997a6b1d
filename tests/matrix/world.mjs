// Shared by the rows: the gateway, a browser, a static server with a strict policy, and long-running programs.
import { execFile, spawn } from "node:child_process";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, extname, join, normalize } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const START_LIMIT = 60_000;
const BUILD_LIMIT = 600_000;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json", ".css": "text/css" };

/** The policy of the pages. Reports go to the page's own server. */
const POLICY = "script-src 'self' 'wasm-unsafe-eval'; require-trusted-types-for 'script'; report-uri /csp";

/** Starts a program that prints a line with its address; returns the address and a function that ends it. */
export async function start(command, args, options, pattern) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      process.kill(-child.pid, "SIGTERM");
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())]);
    }
  };
  let printed = "";
  const address = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${command} did not start: ${printed}`)), START_LIMIT);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        printed += `${line}\n`;
        const found = pattern.exec(line.replaceAll(/\u001b\[[\d;]*m/g, ""))?.[1];
        if (found) resolve(clearTimeout(timer) ?? found);
      });
    }
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${printed}`)));
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  return { address, stop };
}

/** Runs a program to its end, and returns what it printed. */
export async function run(folder, command, args, env = {}) {
  // Some tools need a newer Node, which their row installs.
  const path = `${join(folder, "node_modules", ".bin")}${delimiter}${process.env.PATH}`;
  const options = { cwd: folder, env: { ...process.env, CI: "1", PATH: path, ...env }, timeout: BUILD_LIMIT, maxBuffer: 1 << 26 };
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    const said = `${error.stdout ?? ""}${error.stderr ?? ""}`.trim().split("\n").slice(-12).join("\n");
    const why = error.killed ? `did not end within ${BUILD_LIMIT / 1000} s` : said || error.message;
    throw new Error(`${command} ${args.join(" ")}: ${why}`);
  }
}

/**
 * Serves a folder under the policy; collects reports of violations. `scripts` may allow more, such as an import map; with
 * `null` there is no policy, for frameworks that write scripts into the page.
 */
export async function serve(folder, scripts = "") {
  const reports = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://host");
    if (pathname === "/csp") {
      let body = "";
      request.on("data", (chunk) => (body += chunk)).on("end", () => reports.push(`csp: ${body.slice(0, 300)}`));
      return response.end();
    }
    const file = join(folder, normalize(pathname === "/" ? "/index.html" : pathname));
    if (pathname === "/favicon.ico") return response.writeHead(204).end();
    if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
      ...(scripts !== null && { "content-security-policy": POLICY.replace("'self'", `'self'${scripts}`) }),
    });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}`, reports, stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}

/** The gateway and the browser. */
export class World {
  static async start() {
    const { address, stop } = await start(process.env.TURNWIRE_GATEWAY, ["--listen", "127.0.0.1:0"], {}, /(http:\/\/[\d.]+:\d+)/);
    const world = new World();
    world.gateway = address;
    world.stopGateway = stop;
    world.expected = await world.#plain();
    return world;
  }

  /** The text that a turn must have, read without turnwire. */
  async #plain() {
    const post = (path, body) => fetch(`${this.gateway}/acme/v1/${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const { data } = await (await post("agents/sessions", { agent_name: "support-bot" })).json();
    const input = [{ type: "user.message", content: "plain" }];
    const stream = await (await post(`agents/sessions/${data.id}/turns`, { input, previous_turn_id: "none", stream: true })).text();
    const events = [...stream.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json));
    return events.filter(({ type }) => type === "model.message.delta").map(({ content }) => content ?? "").join("");
  }

  async browser() {
    return (this.running ??= await chromium.launch({ executablePath: process.env.CHROME }));
  }

  /** Opens a page, and returns what it shows and its errors. */
  async visit(address, protocols, { query = "", reports = [], context } = {}) {
    const own = context ?? (await (await this.browser()).newContext());
    const page = await own.newPage();
    const failures = [];
    page.on("pageerror", (error) => failures.push(String(error)));
    page.on("console", (message) => message.type() === "error" && failures.push(message.text()));
    try {
      await page.goto(`${address}?gateway=${encodeURIComponent(this.gateway)}&protocols=${protocols}${query}`);
      const output = page.locator("output");
      await output.waitFor({ state: "attached", timeout: 90_000 }).catch(() => {
        throw new Error(`the page shows nothing; ${failures.join("; ").slice(0, 500)}`);
      });
      const results = JSON.parse(await output.textContent());
      // Reports come a moment later.
      await page.waitForTimeout(200);
      return { results, failures: [...failures, ...reports] };
    } finally {
      await (context ? page : own).close();
    }
  }

  async stop() {
    await this.running?.close();
    await this.stopGateway();
  }
}
