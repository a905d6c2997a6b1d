// What a case works with: a page, what passed before the server, and what commands have left behind.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Case } from "../runner.mjs";

/** What a case works with. */
export class CodexCase extends Case {
  #world;
  /** How many connections there were before. */
  #before;

  constructor(world, page) {
    super(page);
    this.#world = world;
    this.#before = world.tap.sockets.length;
  }

  /** The connections of this case. */
  get sockets() {
    return this.#world.tap.sockets.slice(this.#before);
  }

  /** Where the server listens, for who does not go through the relay. */
  get direct() {
    return `ws://${this.#world.address}`;
  }

  /** Cuts all connections. */
  cut() {
    this.#world.tap.cut();
  }

  /** Cuts all connections, and every new one, until the function is called that it returns. */
  away() {
    return this.#world.tap.away();
  }

  /** Loses what pages say, until the function is called that it returns, which cuts all connections. */
  deaf() {
    return this.#world.tap.deaf();
  }

  /** The requests that pages sent, of this method. */
  sent(method) {
    return this.sockets.flatMap(({ sent }) => sent).filter((message) => message.method === method);
  }

  /** What pages heard, of this method. */
  heard(method) {
    return this.sockets.flatMap(({ heard }) => heard).filter((message) => message.method === method);
  }

  /** The answers to requests of the server's. */
  answers() {
    return this.sockets.flatMap(({ sent }) => sent).filter(({ method, result }) => method === undefined && result !== undefined);
  }

  /** A command that leaves behind a line in this case's file each time it runs, and says it has. */
  get command() {
    return `echo ran >> ${this.id}; echo did-run`;
  }

  /** How often that command has run. */
  get runs() {
    const file = join(this.#world.work, this.id);
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
  }

  /** What a file has that the agent has written under this name; nothing if there is none. */
  written(name) {
    const file = join(this.#world.work, name);
    return existsSync(file) ? readFileSync(file, "utf8") : null;
  }

  /** Runs `action` with a second page, which is closed afterwards. */
  async beside(action) {
    const page = await this.#world.openPage();
    try {
      return await action(page);
    } finally {
      await page.context().close();
    }
  }

  /** A page of another host. */
  foreignPage(host) {
    return this.#world.openPage(host);
  }

  /** How often the model was asked. */
  get modelRequests() {
    return this.#world.model.requests.length;
  }
}
