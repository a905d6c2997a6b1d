// A model of the AI SDK that says what `../servers/script.py` says: the first word of the user's last message picks the script.
import { setTimeout as pause } from "node:timers/promises";

const call = (id, name, input) => ({ call: { id, name, input: JSON.stringify(input) } });
const weather = (id, city) => call(id, "get_weather", { city });
const deletion = (id, path) => call(id, "delete_file", { path });

const SCRIPTS = {
  think: [{ thought: "Let me think. " }, { thought: "The answer is 42." }, "It is ", "42."],
  tool: ["Let me ", "look. ", weather("call_w1", "Tokyo")],
  client: ["Please pick. ", call("call_c1", "pick_color", { title: "Wall" })],
  clients: [call("call_c1", "pick_color", { title: "Wall" }), call("call_c2", "pick_color", { title: "Floor" })],
  mixed: [weather("call_m1", "Oslo"), call("call_m2", "pick_color", { title: "Wall" })],
  approve: [deletion("call_a1", "a.txt")],
  approve2: [deletion("call_a1", "a.txt"), deletion("call_a2", "b.txt")],
  state: [call("call_s1", "AGUISendStateSnapshot", { snapshot: { n: 5 } })],
  fail: ["This will go ", "wro", { failure: new Error("the model fell over") }],
  slow: Array.from({ length: 20 }, (_, number) => `${number} `),
};

/** Its answer to a conversation: strings, thoughts, calls, a failure. */
function pieces(prompt) {
  const said = prompt.findLastIndex(({ role }) => role === "user");
  const text = prompt[said].content.map((part) => part.text ?? "").join(" ");
  const results = prompt.slice(said).filter(({ role }) => role === "tool").flatMap(({ content }) => content);
  if (results.length > 0) return ["Done. I got: ", results.map(({ output }) => JSON.stringify(output.value)).join("; ")];
  if (text.startsWith("count")) return [`I see ${prompt.filter(({ role }) => role === "user").length} user messages`];
  return SCRIPTS[text.split(" ")[0]] ?? ["You said: ", text, "\nwith ☃ 你好 \u2028 too."];
}

/** The parts of its answer, at their pace, until it is stopped. */
async function* parts(answer, abortSignal) {
  let open;
  // As of many providers: the agent gives such messages ids of its own.
  const idOf = (kind) => (kind === "text" ? "txt-0" : "reasoning-0");
  const close = () => (open ? [{ type: `${open}-end`, id: idOf(open) }] : []);
  yield { type: "stream-start", warnings: [] };
  for (const piece of answer) {
    await pause(answer.length === 20 ? 300 : 10, undefined, { signal: abortSignal });
    const kind = typeof piece === "string" ? "text" : piece.thought ? "reasoning" : undefined;
    if (kind !== open) {
      yield* close();
      open = kind;
      if (kind) yield { type: `${kind}-start`, id: idOf(kind) };
    }
    if (kind) yield { type: `${kind}-delta`, id: idOf(kind), delta: piece.thought ?? piece };
    else if (piece.failure) yield { type: "error", error: piece.failure };
    else {
      const { id, name, input } = piece.call;
      yield { type: "tool-input-start", id, toolName: name };
      for (const delta of [input.slice(0, 5), input.slice(5)]) yield { type: "tool-input-delta", id, delta };
      yield { type: "tool-input-end", id };
      yield { type: "tool-call", toolCallId: id, toolName: name, input };
    }
  }
  yield* close();
  const unified = answer.some((piece) => piece.call) ? "tool-calls" : "stop";
  yield { type: "finish", finishReason: { unified, raw: unified }, usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } } };
}

export const model = {
  specificationVersion: "v3",
  provider: "scripted",
  modelId: "scripted",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("it only streams")),
  doStream: async ({ prompt, abortSignal }) => ({ stream: ReadableStream.from(parts(pieces(prompt), abortSignal)) }),
};
