// The wires of other packages, each as that package's own servers write it, for a story of messages that only talk.

const data = (value) => `data: ${JSON.stringify(value)}\n\n`;
const named = (value) => `event: ${value.type}\n${data(value)}`;

/** Steps as frames, by a function for each kind. */
const framesOf = (story, by) => story.flatMap((step) => by[step.step]?.(step) ?? []);

/** The UI message stream of `ai`. */
export const ai = {
  frames: (story) => [
    data({ type: "start", messageId: "msg-1" }),
    data({ type: "start-step" }),
    ...framesOf(story, {
      message: ({ message }) => [data({ type: "text-start", id: message })],
      text: ({ message, text }) => [data({ type: "text-delta", id: message, delta: text })],
      finish: ({ message }) => [data({ type: "text-end", id: message })],
    }),
    data({ type: "finish-step" }),
    data({ type: "finish" }),
    "data: [DONE]\n\n",
  ],
  answer: ({ stream }) => stream(),
};

/** AG-UI 1.0. */
export const agUi = {
  frames: (story) => [
    data({ type: "RUN_STARTED", threadId: "t1", runId: "r1", protocolVersion: "1.0" }),
    ...framesOf(story, {
      message: ({ message }) => [data({ type: "TEXT_MESSAGE_START", messageId: message, role: "assistant" })],
      text: ({ message, text }) => [data({ type: "TEXT_MESSAGE_CONTENT", messageId: message, delta: text })],
      finish: ({ message }) => [data({ type: "TEXT_MESSAGE_END", messageId: message })],
    }),
    data({ type: "RUN_FINISHED", threadId: "t1", runId: "r1" }),
  ],
  answer: ({ stream }) => stream(),
};

/** OpenAI's chat completions. */
export const openai = {
  frames(story) {
    const chunk = (delta, finish_reason = null) => data({
      id: "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", object: "chat.completion.chunk", created: 1_795_257_432, model: "gpt-4.1-2025-04-14",
      service_tier: "default", system_fingerprint: "fp_44709d6fcb", choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    });
    return [
      chunk({ role: "assistant", content: "", refusal: null }),
      ...framesOf(story, { text: ({ text }) => [chunk({ content: text })] }),
      chunk({}, "stop"),
      "data: [DONE]\n\n",
    ];
  },
  answer: ({ stream }) => stream(),
};

/** Anthropic's messages. */
export const anthropic = {
  frames(story) {
    const usage = { input_tokens: 25, output_tokens: 1 };
    const message = { id: "msg_01XFDUDYJgAACzvnptvVoYEL", type: "message", role: "assistant", content: [], model: "claude-sonnet-4-5", stop_reason: null, stop_sequence: null, usage };
    return [
      named({ type: "message_start", message }),
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      ...framesOf(story, { text: ({ text }) => [named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })] }),
      named({ type: "content_block_stop", index: 0 }),
      named({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 15 } }),
      named({ type: "message_stop" }),
    ];
  },
  answer: ({ stream }) => stream(),
};

/** LangGraph's stream of a thread's state and messages; `before` are the messages of the state. */
export const langgraph = {
  frames(story, before = []) {
    const event = (name, value) => `event: ${name}\n${data(value)}`;
    const metadata = { langgraph_node: "agent", langgraph_step: 1 };
    return [
      event("values", { messages: before }),
      ...framesOf(story, { text: ({ message, text }) => [event("messages", [{ type: "AIMessageChunk", id: message, content: text, tool_call_chunks: [] }, metadata])] }),
    ];
  },
};
