// The development gateway as a test uses it beside the page: sessions, faults, and what it has recorded.
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** The gateway's control endpoints, at `url`. */
export class Gateway {
  #url;

  constructor(url) {
    this.#url = url;
  }

  /** Creates a session and returns its id. */
  async createSession() {
    const answer = await this.#ask("/demo/v1/agents/sessions", { method: "POST", body: { agent_name: "support-bot" } });
    return JSON.parse(answer).data.id;
  }

  /** Plans the faults of the session's next requests. */
  async setFaults(session, faults) {
    await this.#ask(`/_gateway/sessions/${session}/faults?ahead=true`, { method: "PUT", body: faults });
  }

  /** The session's requests in the order of their arrival. */
  async requests(session) {
    return JSON.parse(await this.#ask(`/_gateway/sessions/${session}/requests`));
  }

  /** All events of a turn, as `{number, event}`, read without the package. */
  async log(turn) {
    const log = await this.#ask(`/_gateway/turns/${turn}/log`);
    return log.split("\n\n").filter(Boolean).map(readFrame);
  }

  /** Breaks the session's open connections. */
  async cut(session) {
    await this.#ask(`/_gateway/sessions/${session}/cut?how=reset`, { method: "POST" });
  }

  /** Releases held turns. */
  async release() {
    await this.#ask("/_gateway/release", { method: "POST" });
  }

  /** How many event streams and sockets are open. */
  async openStreams() {
    return JSON.parse(await this.#ask("/_gateway/streams")).open;
  }

  /** How many turns the session has. */
  async countTurns(session) {
    return (await this.#turns(session)).length;
  }

  /** Waits until the session's turn has ended. */
  async ended(session) {
    while ((await this.#turns(session))[0]?.state.status === "running") await sleep(20);
  }

  async #turns(session) {
    return JSON.parse(await this.#ask(`/demo/v1/agents/sessions/${session}/turns`)).data;
  }

  /** Each request has a connection of its own: the gateway may close those that wait for the next. */
  #ask(path, { method = "GET", body } = {}) {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { "content-type": "application/json" };
      const asked = request(this.#url + path, { method, headers, agent: false }, async (answer) => {
        const said = await text(answer);
        if (answer.statusCode < 300) resolve(said);
        else reject(new Error(`${method} ${path}: ${answer.statusCode} ${said}`));
      });
      asked.once("error", reject);
      asked.end(body && JSON.stringify(body));
    });
  }
}

/** The gateway writes a number and one line of JSON in each frame. */
function readFrame(frame) {
  const fields = new Map(
    frame.split("\n").map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  return { number: Number(fields.get("id")), event: JSON.parse(fields.get("data")) };
}
