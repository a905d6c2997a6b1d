// A server on a socket without a network, which `socket.json` scripts. It is the body of a function of `duties` (the usual
// answers) and `answers` (those of the case), so that Node and the browser can both run it. It returns the class of the
// sockets and the methods that each connection heard.
const heard = [];
const counts = {};
let turn = "";

/** The notifications of a turn that says this text; without its end, if `isCut`. */
function story(text, isCut) {
  const base = { workspace_id: "ws_1", thread_id: "s1" };
  const of = { ...base, turn_id: "$turn" };
  const whole = { id: "$turn", turn_kind: "conversation", origin: "user" };
  const item = { type: "agentMessage", id: "m1", text: "" };
  const all = [
    ["turn/started", { ...base, turn: { ...whole, status: "InProgress" } }],
    ["item/started", { ...of, item }],
    ["item/agent_message/delta", { ...of, item_id: "m1", delta: text, stream: "agent_message" }],
    ["item/completed", { ...of, item: { ...item, text } }],
    ["turn/completed", { ...base, turn: { ...whole, status: "Completed" } }],
  ];
  return all.slice(0, isCut ? 3 : 5).map(([method, params]) => ({ jsonrpc: "2.0", method, params }));
}

class ScriptedSocket extends EventTarget {
  static CONNECTING = 0;
  static OPEN = 1;
  static CLOSING = 2;
  static CLOSED = 3;
  readyState = 0;
  bufferedAmount = 0;
  #methods = [];

  constructor() {
    super();
    heard.push(this.#methods);
    this.#later(() => {
      this.readyState = 1;
      this.dispatchEvent(new Event("open"));
    });
  }

  send(text) {
    const { id, method = "-", params } = JSON.parse(text);
    this.#methods.push(method);
    if (method === "turn/start") turn = params.turn_id;
    const list = answers[method] ?? [duties[method] ?? { error: { code: -32601, message: "unknown" } }];
    counts[method] = (counts[method] ?? 0) + 1;
    const answer = list[Math.min(counts[method], list.length) - 1];
    const { result, error, say, tell = [], close } = answer;
    if (result) this.#tell({ jsonrpc: "2.0", id, result });
    if (error) this.#tell({ jsonrpc: "2.0", id, error });
    for (const message of [...tell, ...(say ? story(say, close || tell.length > 0) : [])]) this.#tell(message);
    if (close) {
      this.#later(() => {
        this.readyState = 3;
        this.dispatchEvent(Object.assign(new Event("close"), { code: close, reason: "scripted", wasClean: true }));
      });
    }
  }

  close() {
    this.readyState = 3;
  }

  #tell(message) {
    const data = JSON.stringify(message).replaceAll("$turn", turn);
    this.#later(() => this.dispatchEvent(Object.assign(new Event("message"), { data })));
  }

  #later(act) {
    setTimeout(() => {
      if (this.readyState < 3) act();
    });
  }
}

return { Socket: ScriptedSocket, heard };
