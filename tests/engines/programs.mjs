// Programs that tests start: found by an environment variable or on the PATH, waited for, and ended
// by their own process ids.
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 5_000;
/** How much of a program's output is kept for the error when it does not start. */
const KEPT_OUTPUT = 4_000;

/** The program that an environment variable names, or the first of these names on the PATH or in more folders. */
export function program(variable, names, more = []) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...more];
  const named = process.env[variable];
  if (named) return named;
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (found !== undefined) return found;
  throw new Error(`no ${names.join(" or ")}: set ${variable} to its program, or run \`cargo xtask test --only engines\``);
}

/** The folders in which `cargo xtask` keeps the tools that it has installed. */
export function toolFolders() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "turnwire");
  return existsSync(cache) ? readdirSync(cache).map((tool) => join(cache, tool, "bin")) : [];
}

/** The folders in which the GTK port of WebKit keeps the programs that are on no PATH. */
export function webkitFolders() {
  const libraries = ["/usr/lib", "/usr/lib64", "/usr/libexec"].filter(existsSync);
  const machines = readdirSync("/usr/lib").map((entry) => join("/usr/lib", entry));
  const versions = ["webkit2gtk-4.1", "webkitgtk-6.0", "webkit2gtk-4.0"];
  return versions.flatMap((version) => [...libraries, ...machines].map((folder) => join(folder, version)));
}

/** A port of the loopback interface that was free a moment ago. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/**
 * Starts a program and waits until `ready(child)` returns something other than `undefined`, which becomes
 * `value`. What it prints is shown only if it does not start.
 */
export async function start(path, args, { env = {}, pipes = [], ready }) {
  const stdio = ["ignore", "pipe", "pipe", ...pipes];
  const child = spawn(path, args, { env: { ...process.env, ...env }, stdio });
  const kill = () => child.kill();
  process.once("exit", kill);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => (said = (said + text).slice(-KEPT_OUTPUT)));
  }
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(`ended with ${signal ?? `code ${code}`}`));
  });
  const stop = async () => {
    process.off("exit", kill);
    child.kill();
    const slow = await Promise.race([ended, sleep(STOP_LIMIT_MS, true, { ref: false })]);
    if (slow === true) child.kill("SIGKILL");
    await ended;
  };
  try {
    return { value: await Promise.race([poll(() => ready(child)), failed(ended), late()]), stop };
  } catch (cause) {
    await stop();
    throw new Error(`${path} did not start: ${cause.message}\n${said}`, { cause });
  }
}

async function failed(ended) {
  throw new Error(await ended);
}

async function late() {
  await sleep(START_LIMIT_MS, undefined, { ref: false });
  throw new Error(`it was not ready within ${START_LIMIT_MS} ms`);
}

async function poll(ready) {
  for (;;) {
    const value = await ready();
    if (value !== undefined) return value;
    await sleep(20, undefined, { ref: false });
  }
}
