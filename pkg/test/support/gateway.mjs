// The development gateway as a program of its own. Needs its path (`TURNWIRE_GATEWAY`).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before } from "node:test";

const PROGRAM = process.env.TURNWIRE_GATEWAY;

/** For tests that need the gateway. */
export const WITH_GATEWAY = { skip: !PROGRAM && "TURNWIRE_GATEWAY names no program" };

/** Starts a gateway for the tests of a file. Returns an object whose `url` is its address. */
export function useGateway() {
  const gateway = { url: undefined };
  let child;
  before(async () => {
    if (!PROGRAM) return;
    child = spawn(PROGRAM, ["--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: child.stdout })) {
      [gateway.url] = /http:\/\/[\d.]+:\d+/.exec(line) ?? [];
      if (gateway.url) break;
    }
  });
  after(async () => {
    if (!child) return;
    const ended = once(child, "exit");
    child.kill();
    await ended;
  });
  return gateway;
}
