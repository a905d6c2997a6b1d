// The relay as a program of its own, before the gateway, and a wire between it and its clients that can break. Needs the
// program's path (`TURNWIRE_RELAY`).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as dial, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const PROGRAM = process.env.TURNWIRE_RELAY;

/** For tests that need the relay and the gateway. */
export const WITH_RELAY = { skip: !(PROGRAM && process.env.TURNWIRE_GATEWAY) && "TURNWIRE_RELAY or TURNWIRE_GATEWAY names no program" };

/** A relay before this gateway: `/aap` and `/tirea`. Its port and its log stay the same when it starts again. */
export class Relay {
  #directory;
  #program;
  port = 0;

  /** Starts a relay that ends with the test. */
  static async start(t, gateway) {
    const relay = new Relay();
    relay.#directory = await mkdtemp(join(tmpdir(), "turnwire-relay-"));
    relay.gateway = gateway;
    await relay.begin();
    t.after(async () => {
      await relay.kill();
      await rm(relay.#directory, { recursive: true });
    });
    return relay;
  }

  async begin() {
    const agents = ["aap", "tirea"].map((name) => `[upstream.${name}]\nprotocol = "${name}"\nurl = "${this.gateway}/${name}"\n`);
    const log = `[log]\nstore = "sqlite:${join(this.#directory, "turns.db")}"\n`;
    const config = `listen = "127.0.0.1:${this.port}"\ndrain = "1s"\n[identity.none]\n${agents.join("")}${log}[limits]\nstarts_per_minute = 1000\n`;
    const file = join(this.#directory, "relay.toml");
    await writeFile(file, config);
    const child = (this.#program = spawn(PROGRAM, ["serve", file], { stdio: ["ignore", "pipe", "inherit"] }));
    for await (const line of createInterface({ input: child.stdout })) {
      const port = /http:\/\/[\d.]+:(\d+)/.exec(line)?.[1];
      if (port) return void (this.port = Number(port));
    }
    throw new Error("the relay has no address");
  }

  /** Ends it at once, as a crash would. */
  async kill() {
    const child = this.#program;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async restart() {
    await this.kill();
    await this.begin();
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }
}

/** A wire to a relay that breaks when it is told to. `allows` gets what comes down, and returns how much of it passes. */
export class Wire {
  #server;
  #sockets = new Set();
  /** How many bytes of a connection pass down before it breaks. */
  breaksAfter = Infinity;
  /** How many connections have broken. */
  broken = 0;

  static async before(t, relay) {
    const wire = new Wire();
    wire.#server = createServer((near) => wire.#join(near, dial(relay.port, "127.0.0.1")));
    wire.#server.listen(0, "127.0.0.1");
    await once(wire.#server, "listening");
    t.after(() => {
      wire.cut();
      wire.#server.close();
    });
    return wire;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Breaks all connections now. */
  cut() {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #join(near, far) {
    let passed = 0;
    const limit = this.breaksAfter;
    for (const [socket, other] of [[near, far], [far, near]]) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    near.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk) => {
      const rest = chunk.subarray(0, limit - passed);
      passed += rest.length;
      near.write(rest, () => {
        if (rest.length === chunk.length) return;
        this.broken += 1;
        near.resetAndDestroy();
      });
    });
  }
}
