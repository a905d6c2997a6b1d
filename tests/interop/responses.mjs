// A scripted model behind the Responses API of OpenAI: streams answers to whatever agent server is given its
// address. The first word of the last user message chooses the script, see SCRIPTS; after a tool has answered, the
// model quotes it.
//
//     node responses.mjs [--port 18998]      prints its address, such as http://127.0.0.1:18998/v1
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const GREETING = ["Hello", " from", " the mock", ", 你好 ☃\n", "line two."];
/** The provider's count for every answer. */
const USAGE = {
  input_tokens: 42,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens: 17,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 59,
};

/** What each first word plays, with the rest of the text. All other words get a greeting. */
const SCRIPTS = {
  /** EXEC command: calls the shell. */
  EXEC: (answer, command) => answer.exec(command),
  /** PATCH file line …: adds a file of these lines. */
  PATCH: (answer, rest) => {
    const [file, ...lines] = rest.split(/\s+/);
    const patch = ["*** Begin Patch", `*** Add File: ${file}`, ...lines.map((line) => `+${line}`), "*** End Patch"];
    return answer.exec(["apply_patch <<'EOF'", ...patch, "EOF"].join("\n"), {});
  },
  /** CALL tool {…}: calls a tool by its name. */
  CALL: (answer, rest) => {
    const [, name, json] = /^(\S+)\s*([^]*)$/.exec(rest);
    return answer.call(name, json || "{}");
  },
  /** ASIDE text: starts a sub-agent with the text, and does not wait for it. */
  ASIDE: (answer, text) => answer.agents("spawn_agent", { message: text }),
  /** AWAIT id: waits for that sub-agent. */
  AWAIT: (answer, id) => answer.agents("wait_agent", { targets: [id], timeout_ms: 60_000 }),
  /** Text before a call. */
  MIXED: async (answer, command) => {
    await answer.text(["Let me look. "]);
    await answer.exec(command);
  },
  /** SAY word [count] [ms]: tokens with pauses. */
  SAY: (answer, rest) => {
    const [word = "tok", count = "20", ms = "20"] = rest.split(/\s+/);
    const tokens = Array.from({ length: Number(count) }, (_, at) => `${word}-${String(at).padStart(2, "0")} `);
    return answer.text(tokens, Number(ms));
  },
  REASONING: async (answer) => {
    await answer.reasoning([["Let me think. ", "The user greets, "], ["so I greet. ☃"]]);
    await answer.text(GREETING);
  },
  /** The provider refuses. */
  ERR500: (answer) => answer.refuse(500, { message: "mock upstream exploded", type: "server_error", code: "boom" }),
  ERR401: (answer) => answer.refuse(401, { message: "invalid api key sk-***", type: "auth", code: "invalid_api_key" }),
  /** The provider fails after some text. */
  FAILED: async (answer) => {
    await answer.text(["partial "]);
    answer.fail({ code: "server_error", message: "mock model broke" });
  },
  /** The connection breaks within the text. */
  CUT: async (answer) => {
    await answer.text(["partial ", "text "], 0, false);
    await answer.cut();
  },
};

/** What some of them do once a tool has answered, with its result. */
const THEN = {
  /** AGENT text: as ASIDE, but waits. */
  AGENT: (answer, [made, waited]) => waited === undefined && SCRIPTS.AWAIT(answer, JSON.parse(made).agent_id),
};
SCRIPTS.AGENT = SCRIPTS.ASIDE;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Ids are never used twice, as with real providers. */
let ids = 0;
const nextId = (kind) => `${kind}_${(ids += 1)}`;

/** One streamed response. */
class Answer {
  #response;
  #left;
  #isOver = false;
  #number = 0;
  #output = [];
  #id = nextId("resp");

  constructor(response) {
    this.#response = response;
    this.#left = new Promise((resolve) => response.once("close", resolve));
  }

  /** A message in these pieces. */
  async text(pieces, ms = 0, isWhole = true) {
    const item = { type: "message", id: nextId("msg"), role: "assistant" };
    this.#event("response.output_item.added", { ...this.#place, item: { ...item, status: "in_progress", content: [] } });
    for (const delta of pieces) {
      if (ms > 0) await Promise.race([pause(ms), this.#left]);
      this.#event("response.output_text.delta", { ...this.#place, item_id: item.id, content_index: 0, delta });
    }
    if (isWhole) this.#done({ ...item, status: "completed", content: [{ type: "output_text", text: pieces.join(""), annotations: [] }] });
  }

  /** The summary of a reasoning, part by part, each in pieces. */
  async reasoning(parts) {
    const item = { type: "reasoning", id: nextId("rs"), encrypted_content: null };
    this.#event("response.output_item.added", { ...this.#place, item: { ...item, summary: [] } });
    const summary = parts.map((pieces) => ({ type: "summary_text", text: pieces.join("") }));
    for (const [summary_index, pieces] of parts.entries()) {
      const where = { ...this.#place, item_id: item.id, summary_index };
      this.#event("response.reasoning_summary_part.added", { ...where, part: { type: "summary_text", text: "" } });
      for (const delta of pieces) this.#event("response.reasoning_summary_text.delta", { ...where, delta });
      this.#event("response.reasoning_summary_part.done", { ...where, part: summary[summary_index] });
    }
    this.#done({ ...item, summary });
  }

  /** Calls the shell, which asks for consent by default. */
  exec(cmd, more = { sandbox_permissions: "require_escalated", justification: "the test says so" }) {
    return this.call("exec_command", JSON.stringify({ cmd, ...more }));
  }

  /** Makes sub-agents, or does something with them. */
  agents(name, values) {
    return this.call(name, JSON.stringify(values), { namespace: "multi_agent_v1" });
  }

  /** Calls a tool. */
  async call(name, json, more) {
    const item = { type: "function_call", id: nextId("fc"), call_id: nextId("call"), name, ...more };
    this.#event("response.output_item.added", { ...this.#place, item: { ...item, status: "in_progress", arguments: "" } });
    for (const delta of json.match(/[^]{1,8}/g)) {
      this.#event("response.function_call_arguments.delta", { ...this.#place, item_id: item.id, delta });
    }
    this.#done({ ...item, status: "completed", arguments: json });
  }

  /** An error instead of an answer. */
  refuse(status, error) {
    this.#isOver = true;
    this.#response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  }

  /** An error at the end of the answer. */
  fail(error) {
    if (this.#isOver) return;
    this.#event("response.failed", { response: { ...this.#whole("failed"), error } });
    this.#isOver = true;
    this.#response.end();
  }

  /** Breaks the connection off. */
  async cut() {
    this.#isOver = true;
    // The written bytes must be sent first.
    await pause(30);
    this.#response.destroy();
  }

  /** The end; the first call counts. */
  end() {
    if (this.#isOver) return;
    this.#event("response.completed", { response: { ...this.#whole("completed"), usage: USAGE } });
    this.#isOver = true;
    this.#response.end();
  }

  get #place() {
    return { output_index: this.#output.length };
  }

  #done(item) {
    this.#event("response.output_item.done", { ...this.#place, item });
    this.#output.push(item);
  }

  #whole(status) {
    return { id: this.#id, object: "response", created_at: 1, model: "mock-1", status, error: null, output: this.#output };
  }

  #event(type, body) {
    if (this.#response.destroyed) return;
    if (!this.#response.headersSent) {
      this.#response.writeHead(200, { "content-type": "text/event-stream" });
      this.#event("response.created", { response: { ...this.#whole("in_progress"), output: [] } });
    }
    const event = { type, sequence_number: (this.#number += 1), ...body };
    this.#response.write(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
}

/** The text of an item, whose content may be a list of parts. */
const textOf = (content) => (Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : (content ?? ""));

/** Whether an item is what the user said: agents put contexts of their own between, in tags. */
const isSaid = ({ type = "message", role, content }) => type === "message" && role === "user" && !textOf(content).startsWith("<");

/** The script that the conversation selects. */
async function play(answer, input) {
  const own = input.findLastIndex(isSaid);
  const [, word, rest] = /^(\S*)\s*([^]*)$/.exec(own < 0 ? "" : textOf(input[own].content));
  const results = input.slice(own + 1).filter(({ type }) => type === "function_call_output");
  const said = results.map(({ output }) => textOf(output));
  const next = said.length > 0 && Object.hasOwn(THEN, word) && THEN[word](answer, said);
  if (next) await next;
  else if (said.length > 0) await answer.text(["Tool said: ", said.join(" | ").slice(0, 300)]);
  else await (Object.hasOwn(SCRIPTS, word) ? SCRIPTS[word](answer, rest) : answer.text(GREETING));
  answer.end();
}

/** Starts the model on a port of the loopback interface (0: any free one). */
export async function startResponses(port = 0) {
  const requests = [];
  const server = createServer(async (request, response) => {
    if (request.method !== "POST" || !request.url.endsWith("/responses")) {
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"no such route"}}');
      return;
    }
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const asked = JSON.parse(body);
    requests.push(asked);
    await play(new Answer(response), asked.input);
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    /** The base URL for a client. */
    url: `http://127.0.0.1:${server.address().port}/v1`,
    /** The bodies of all requests so far. */
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "18998" } } });
  console.log((await startResponses(Number(values.port))).url);
}
