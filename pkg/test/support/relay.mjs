// The relay as a separate program, in front of the gateway, and a wire between it and its clients that can break. Needs the
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

/** The config of a relay before one gateway: `/aap` and `/tirea`. `log` and `limits` are further lines of these sections. */
export const before = (gateway, { log = "", limits = "", more = "" } = {}) => ({ port, folder }) => `
listen = "127.0.0.1:${port}"
drain = "1s"
[identity.none]
${["aap", "tirea"].map((name) => `[upstream.${name}]\nprotocol = "${name}"\nurl = "${gateway}/${name}"\n`).join("")}
${more}
[log]
store = "sqlite:${folder}/turns.db"
${log}
[limits]
starts_per_minute = 1000
${limits}
`;

/** A relay. Its port and its log stay the same when it starts again. */
export class Relay {
  #folder;
  #program;
  #config;
  port = 0;

  /** Starts a relay that ends with the test: before this gateway, or with the config that a function of its port and folder returns. */
  static async start(t, config) {
    const relay = await Relay.open(config);
    t.after(() => relay.close());
    return relay;
  }

  /** Starts a relay, at a free port unless one is given. */
  static async open(config, port = 0) {
    const relay = new Relay();
    relay.#folder = await mkdtemp(join(tmpdir(), "turnwire-relay-"));
    relay.#config = typeof config === "function" ? config : before(config);
    relay.port = port;
    await relay.begin();
    return relay;
  }

  /** Ends it, and forgets its log. */
  async close() {
    await this.kill();
    await rm(this.#folder, { recursive: true });
  }

  /** The file with its config. */
  get file() {
    return join(this.#folder, "relay.toml");
  }

  async begin() {
    const { file } = this;
    await writeFile(file, this.#config({ port: this.port, folder: this.#folder }));
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

/** A wire to a relay that breaks on demand. `allows` gets the bytes from the relay, and returns how many of them pass. */
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
    // A reset drops what the socket has not sent yet, and without this it waits for acknowledgements: less than the limit would pass.
    near.setNoDelay(true);
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
        if (rest.length === chunk.length || near.destroyed) return;
        this.broken += 1;
        near.resetAndDestroy();
      });
    });
  }
}
