// A scripted model behind the chat-completions API of OpenAI: streams answers to whatever agent server is
// given its address. The first word of the last user message chooses the script, see SCRIPTS; after a tool
// has answered, the model quotes it.
//
//     node model.mjs [--port 18999]      prints its address, such as http://127.0.0.1:18999/v1/
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const GREETING = ["Hello", " from", " the mock", ", 你好 ☃\n", "line two."];
/** The provider's count for every answer. */
const USAGE = {
  prompt_tokens: 42,
  completion_tokens: 17,
  total_tokens: 59,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

/** What each first word plays. All other words get a greeting. */
const SCRIPTS = {
  TOOL: (answer) => answer.calls([["serverInfo", "{}"]]),
  TWO: (answer) => answer.calls([["serverInfo", "{}"], ["failingTool", "{}"]]),
  FAIL: (answer) => answer.calls([["failingTool", "{}"]]),
  NOSUCH: (answer) => answer.calls([["doesNotExist", '{"location": "Bern"}']]),
  FINISH: (answer) => answer.calls([["finish", '{"summary": "all done"}']]),
  /** Text before a call. */
  MIXED: async (answer) => {
    await answer.text(["Let me look. "]);
    await answer.calls([["serverInfo", "{}"]]);
  },
  /** A call after every answer of a tool. */
  LOOP: (answer) => answer.calls([["serverInfo", "{}"]]),
  /** Two calls; when the first has answered, a slow text, even if the second still waits. */
  LATER: (answer) => answer.calls([["serverInfo", "{}"], ["failingTool", "{}"]]),
  /** SLOW [count] [ms]: tokens with pauses. */
  SLOW: (answer, [count = "40", ms = "250"]) => answer.text(tokens("tok", Number(count)), Number(ms)),
  /** SAY word [count] [ms]: the same with the caller's word. */
  SAY: (answer, [word = "tok", count = "20", ms = "20"]) => answer.text(tokens(`${word}-`, Number(count)), Number(ms)),
  REASONING: async (answer) => {
    await answer.reasoning(["Let me think. ", "The user greets, ", "so I greet. ☃"]);
    await answer.text(GREETING);
  },
  /** The answer runs out of tokens. */
  LENGTH: async (answer) => {
    await answer.text(["This goes on and"]);
    answer.end("length");
  },
  ERR401: (answer) => answer.refuse(401, { message: "invalid api key sk-***", type: "auth", code: "invalid_api_key" }),
  ERR500: (answer) => answer.refuse(500, { message: "mock upstream exploded", type: "server_error", code: "boom" }),
  /** An error at the first attempt only. */
  FLAKY: async (answer) => {
    if (answer.isFirstTry) answer.refuse(500, { message: "try again", type: "server_error", code: "busy" });
    else await answer.text(GREETING);
  },
  /** An empty answer, without even a count. */
  EMPTY: (answer) => answer.nothing(),
  /** The connection breaks within the text, at the first attempt only. */
  CUT: async (answer) => {
    if (!answer.isFirstTry) return answer.text(GREETING);
    await answer.text(["partial ", "text "]);
    await answer.cut();
  },
  /** The same within a call. */
  CUTTOOL: async (answer) => {
    if (!answer.isFirstTry) return answer.calls([["serverInfo", "{}"]]);
    await answer.text(["partial "]);
    answer.call(0, "call_cut", "finish", '{"summ');
    await answer.cut();
  },
  /** Some text, then silence until the caller leaves. */
  HANG: async (answer, [count = "1"]) => {
    await answer.text(tokens("tok", Number(count)));
    await answer.left;
  },
};

const tokens = (word, count) => Array.from({ length: count }, (_, at) => `${word}${String(at).padStart(2, "0")} `);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One streamed completion. */
class Answer {
  /** Whether this conversation is continued for the first time. */
  isFirstTry;
  /** Settles when the caller has left. */
  left;
  #response;
  #isOver = false;
  #finish = "stop";

  constructor(response, isFirstTry) {
    this.#response = response;
    this.isFirstTry = isFirstTry;
    this.left = new Promise((resolve) => response.once("close", resolve));
  }

  async text(parts, ms = 0) {
    for (const content of parts) await this.#delta({ content }, ms);
  }

  async reasoning(parts) {
    for (const reasoning_content of parts) await this.#delta({ reasoning_content });
  }

  /** Calls tools; the arguments come in pieces, with those of all calls mixed. */
  async calls(calls) {
    const ids = calls.map(() => nextCallId());
    for (const [at, [name]] of calls.entries()) this.call(at, ids[at], name, "");
    const longest = Math.max(...calls.map(([, json]) => json.length));
    for (let from = 0; from < longest; from += 8) {
      for (const [index, [, json]] of calls.entries()) {
        const piece = json.slice(from, from + 8);
        if (piece !== "") await this.#delta({ tool_calls: [{ index, function: { arguments: piece } }] });
      }
    }
    this.#finish = "tool_calls";
  }

  /** Begins a call. */
  call(index, id, name, json) {
    void this.#delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: json } }] });
  }

  /** An error instead of an answer. */
  refuse(status, error) {
    this.#isOver = true;
    this.#response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  }

  nothing() {
    this.#isOver = true;
    this.#response.writeHead(200, { "content-type": "text/event-stream" }).end("data: [DONE]\n\n");
  }

  /** Breaks the connection off. */
  async cut() {
    this.#isOver = true;
    // The written bytes must be sent first.
    await pause(30);
    this.#response.destroy();
  }

  /** The end; the first call counts. */
  end(finish = this.#finish) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#write({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
    this.#write({ choices: [], usage: USAGE });
    this.#response.end("data: [DONE]\n\n");
  }

  async #delta(delta, ms = 0) {
    if (ms > 0) await Promise.race([pause(ms), this.left]);
    this.#write({ choices: [{ index: 0, delta, finish_reason: null }] });
  }

  #write(body) {
    if (this.#response.destroyed) return;
    if (!this.#response.headersSent) this.#response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "mock-1", ...body };
    this.#response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}

/** Ids of calls are never used twice, as with real providers. */
let calls = 0;
const nextCallId = () => `call_${(calls += 1)}`;

/** The text of a message, whose content may be a list of parts. */
const textOf = ({ content }) => (Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : (content ?? ""));

/** The script that the conversation selects. */
async function play(answer, messages) {
  const own = messages.findLastIndex((message) => message.role === "user");
  const [word, ...rest] = own < 0 ? [""] : textOf(messages[own]).split(/\s+/);
  const results = messages.slice(own + 1).filter((message) => message.role === "tool").map(textOf);
  const isFinal = results.length > 0 && word !== "LOOP";
  if (!isFinal) await (Object.hasOwn(SCRIPTS, word) ? SCRIPTS[word](answer, rest) : answer.text(GREETING));
  else {
    await answer.text(["Tool said: ", results.join(" | ").slice(0, 300)]);
    if (word === "LATER") await answer.text(tokens(" later", 20), 100);
  }
  answer.end();
}

/** Starts the model on a port of the loopback interface (0: any free one). */
export async function startModel(port = 0) {
  const seen = new Set();
  const server = createServer(async (request, response) => {
    if (request.method !== "POST" || !request.url.endsWith("/chat/completions")) {
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"no such route"}}');
      return;
    }
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const { messages } = JSON.parse(body);
    // A second attempt has the same user messages, though parts of the first answer may be among them.
    const question = JSON.stringify(messages.filter(({ role }) => role === "user" || role === "tool"));
    const answer = new Answer(response, !seen.has(question));
    seen.add(question);
    await play(answer, messages);
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    /** The base URL for an OpenAI client. */
    url: `http://127.0.0.1:${server.address().port}/v1/`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "18999" } } });
  console.log((await startModel(Number(values.port))).url);
}
