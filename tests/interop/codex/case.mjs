// The tools of a case: a page, the recorded traffic, and the files that commands have written.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Case } from "../runner.mjs";

/** The tools of a case. */
export class CodexCase extends Case {
  #world;
  /** The number of earlier connections. */
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

  /** The server's own address, for connections without the relay. */
  get direct() {
    return `ws://${this.#world.address}`;
  }

  /** Cuts all connections. */
  cut() {
    this.#world.tap.cut();
  }

  /** Cuts all connections, and every new one, until the returned function is called. */
  away() {
    return this.#world.tap.away();
  }

  /** Loses the pages' messages until the returned function is called, which cuts all connections. */
  deaf() {
    return this.#world.tap.deaf();
  }

  /** The requests that pages sent, of this method. */
  sent(method) {
    return this.sockets.flatMap(({ sent }) => sent).filter((message) => message.method === method);
  }

  /** The messages of this method that pages received. */
  heard(method) {
    return this.sockets.flatMap(({ heard }) => heard).filter((message) => message.method === method);
  }

  /** The answers to requests of the server's. */
  answers() {
    return this.sockets.flatMap(({ sent }) => sent).filter(({ method, result }) => method === undefined && result !== undefined);
  }

  /** A command that adds a line to this case's file and prints each time it runs. */
  get command() {
    return `echo ran >> ${this.id}; echo did-run`;
  }

  /** How often that command has run. */
  get runs() {
    const file = join(this.#world.work, this.id);
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
  }

  /** The content of the file that the agent has written under this name; nothing if there is none. */
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

  /** The number of requests to the model. */
  get modelRequests() {
    return this.#world.model.requests.length;
  }
}
