// A Redis of the tests' own, which keeps nothing on disk.
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, program, start } from "../programs.mjs";

const SETTINGS = ["--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"];

/** Starts one, and returns its address and a function that ends it. */
export async function startRedis() {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "turnwire-redis-"));
  const ready = () => answers(port);
  const { stop } = await start(program("TURNWIRE_REDIS", ["redis-server"]), ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder, ...SETTINGS], { ready });
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether a server answers there; `undefined` while it does not. */
function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      resolve(data.toString().startsWith("+PONG") || undefined);
      socket.destroy();
    });
    socket.once("error", () => resolve(undefined));
  });
}
