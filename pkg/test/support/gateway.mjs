// The development gateway as a separate program. Needs its path (`TURNWIRE_GATEWAY`).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before } from "node:test";

const PROGRAM = process.env.TURNWIRE_GATEWAY;

/** For tests that need the gateway. */
export const WITH_GATEWAY = { skip: !PROGRAM && "TURNWIRE_GATEWAY names no program" };

/** Starts a gateway for the tests of a file, with these options. Returns an object whose `url` is its address. */
export function useGateway(...argv) {
  const gateway = { url: undefined };
  let program;
  before(async () => {
    if (!PROGRAM) return;
    program = await startProgram("--listen", "127.0.0.1:0", ...argv);
    gateway.url = program.url;
  });
  after(() => program?.stop());
  return gateway;
}

/** Starts the program: `{ url, stop }`. */
export async function startProgram(...argv) {
  const child = spawn(PROGRAM, argv, { stdio: ["ignore", "pipe", "inherit"] });
  let url;
  for await (const line of createInterface({ input: child.stdout })) {
    [url] = /http:\/\/[\d.]+:\d+/.exec(line) ?? [];
    if (url) break;
  }
  const stop = async () => {
    const ended = once(child, "exit");
    child.kill();
    await ended;
  };
  return { url, stop };
}
