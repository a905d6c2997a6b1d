// The baseline's way over a WebSocket: JSON-RPC requests by id, and notifications for the turn that is being read.

/** What reads turns of a server: one socket for all of them. */
export async function overSocket(webSocket, baseUrl, Wire) {
  const line = new Line(webSocket(baseUrl));
  await line.opened;
  await Wire.greet(line);
  return {
    async session(wire) {
      await wire.open(line);
      return (take, woken) => line.read(wire, take, woken);
    },
    close: () => line.close(),
  };
}

class Line {
  #socket;
  #sent = 0;
  #pending = new Map();
  #hear = () => {};

  constructor(socket) {
    this.#socket = socket;
    this.opened = new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", () => reject(new Error("the connection broke")));
    });
    socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(data)));
  }

  close() {
    this.#socket.close();
  }

  ask(method, params) {
    this.#sent += 1;
    const id = `rq${String(this.#sent).padStart(19, "0")}`;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  notify(method) {
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", method }));
  }

  /** Starts a turn and hands on its notifications until `take` says that it is over. */
  read(wire, take, woken) {
    return new Promise((resolve, reject) => {
      // Some may come before the answer that names the turn.
      let early = [];
      const hear = (message) => {
        if (!wire.isMine(message)) return;
        const goesOn = take(message);
        woken();
        if (goesOn) return;
        this.#hear = () => {};
        resolve();
      };
      this.#hear = (message) => early.push(message);
      wire.start(this, "Hello").then(() => {
        this.#hear = hear;
        for (const message of early) hear(message);
        early = [];
      }, reject);
    });
  }

  #take(message) {
    const pending = message.id !== undefined && this.#pending.get(message.id);
    if (!pending) return this.#hear(message);
    this.#pending.delete(message.id);
    if (message.error) pending.reject(new Error(message.error.message));
    else pending.resolve(message.result);
  }
}
