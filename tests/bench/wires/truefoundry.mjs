// The wire of the TrueFoundry gateway, byte for byte as `crates/gateway/src/protocols/truefoundry` writes it: the data, then the number;
// a time on a message's base and on its first delta only.
const TIME = "2026-11-21T14:04:32.381Z";
const TURN = "01m7z6rk7br53xe9avc73q0q48.g.7d0831";
const SUBJECT = { subject_id: "developer", subject_type: "user", subject_slug: "developer@example.com" };
const INPUT = [{ type: "user.message", content: "What is wrong with our shop?" }];
const USAGE = {
  input_tokens: 961,
  output_tokens: 59,
  input_tokens_breakdown: { harness: 412, skills: 0, instructions: 180, tool_definitions: 264, messages: 105 },
};

/** The events of a story, in the order of the stream. */
export function eventsOf(story) {
  const writer = new Writer();
  for (const step of story) writer[step.step](step);
  return writer.end_of_turn();
}

class Writer {
  #events = [];
  #threads = new Map();
  #messages = new Map();
  #calls = new Map();
  #last;
  #ids = 0;

  constructor() {
    const thread_id = null;
    this.#push({
      type: "turn.created", id: this.#id(), turn_id: TURN, previous_turn_id: null, input: INPUT, state: { status: "running" },
      created_by: SUBJECT, created_at: TIME, thread_id,
    });
    const mcp_servers = [
      { id: "mcp-console", name: "console", session_id: "5f0d5ca7-88fa-4d65-84bb-51bb34687db2", transport_type: "streamable-http" },
    ];
    this.#push({ type: "mcp.initialize", id: this.#id(), thread_id: "main", created_at: TIME, mcp_servers });
  }

  #id() {
    this.#ids += 1;
    return `01m7z6rk7d${String(this.#ids).padStart(16, "0")}`;
  }

  #push(event) {
    this.#events.push(event);
  }

  #delta(id, fields) {
    const message = this.#messages.get(id);
    const time = message.isFresh ? { created_at: TIME } : {};
    message.isFresh = false;
    this.#push({ type: "model.message.delta", id, thread_id: message.thread, ...time, ...fields });
    return message.whole;
  }

  message({ thread, message: id }) {
    const whole = { type: "model.message", thread_id: thread, created_at: TIME, id };
    this.#messages.set(id, { thread, whole, isFresh: true });
    this.#push({ ...whole });
  }

  text({ message, text }) {
    const whole = this.#delta(message, { content: text });
    whole.content = (whole.content ?? "") + text;
  }

  reasoning({ message, text }) {
    const whole = this.#delta(message, { reasoning_content: text });
    whole.reasoning_content = (whole.reasoning_content ?? "") + text;
  }

  call({ message, index, call: id, name }) {
    const tool_info = name === "create_sub_agent"
      ? { type: "truefoundry-system", name }
      : { type: "mcp", server_id: "mcp-console", server_name: "console", name };
    const full = name === "create_sub_agent" ? name : `console__${name}`;
    const whole = this.#delta(message, { tool_calls: [{ index, id, type: "function", function: { name: full, arguments: "" }, tool_info }] });
    (whole.tool_calls ??= [])[index] = { id, type: "function", function: { name: full, arguments: "" }, tool_info };
    this.#calls.set(id, message);
  }

  arguments({ message, index, text }) {
    const whole = this.#delta(message, { tool_calls: [{ index, function: { arguments: text } }] });
    whole.tool_calls[index].function.arguments += text;
  }

  finish({ message, reason }) {
    const whole = this.#delta(message, { finish_reason: reason, usage: USAGE });
    Object.assign(whole, { finish_reason: reason, usage: USAGE });
    const { thread } = this.#messages.get(message);
    if (thread === "main") this.#last = whole;
    else this.#threads.get(thread).output = whole;
  }

  result({ thread, call, text }) {
    this.#push({ type: "tool.response", id: this.#id(), thread_id: thread, created_at: TIME, tool_call_id: call, content: text });
  }

  thread({ thread, call, title }) {
    const parent = { thread_id: "main", tool_call_id: call };
    this.#threads.set(thread, { title, parent });
    const agent_info = { type: "dynamic", name: "log-reader", input: "Find the first error of today." };
    this.#push({ type: "thread.created", id: this.#id(), thread_id: thread, created_at: TIME, title, parent, agent_info });
  }

  end({ thread }) {
    const { title, parent, output } = this.#threads.get(thread);
    const state = { status: "done", output };
    this.#push({ type: "thread.done", id: this.#id(), thread_id: thread, created_at: TIME, title, parent, state });
  }

  end_of_turn() {
    const metrics = { total_input_tokens: 2729, total_output_tokens: 103, total_tokens: 2832, total_cost_in_usd: 0.009732 };
    const state = { status: "done", output: this.#last, required_actions: [], completed_at: TIME, metrics };
    this.#push({ type: "turn.done", id: this.#id(), state, created_at: TIME, thread_id: null });
    return this.#events;
  }
}

const SESSION = {
  type: "session", id: "s1", agent_name: "support-bot", title: null, created_by_subject: SUBJECT, created_at: TIME, updated_at: TIME,
};

/** The wire; `form` names another way to write it. */
export const truefoundry = {
  frames(story, form = "own") {
    const { event = (own) => own, frame = ownFrame } = FORMS[form];
    return eventsOf(story).map((own, at) => frame(JSON.stringify(event(own, at + 1)), at + 1));
  },

  answer({ method, path, stream }) {
    if (method === "POST" && path.endsWith("/turns")) return stream();
    if (method === "POST" && path.endsWith("/sessions")) return Response.json({ data: SESSION });
    throw new Error(`the server in memory has no ${method} ${path}`);
  },
};

const ownFrame = (json, number) => `data: ${json}\nid: ${number}\n\n`;

const isMessage = ({ type }) => type.startsWith("model.message");

/** What other servers, and later versions of this one, may write: what `event` makes of an event, `frame` of its JSON. */
const FORMS = {
  own: {},
  /** Fields of later versions, before and after the known ones. */
  "extra fields": {
    event: ({ type, ...rest }, number) => ({ trace: { id: "4bf92f3577b34da6a3ce929d0e0e4736", span: number }, type, tenant: "acme", ...rest, cost: 0.00031, tags: ["a", "b"] }),
  },
  /** Text first, the type last. */
  "other order": { event: (event) => Object.fromEntries(Object.entries(event).reverse()) },
  /** `null` for what is absent. */
  nulls: {
    event: (event) => (isMessage(event) ? { ...ABSENT, ...event } : event),
  },
  /** The number and the time in each event. */
  numbered: { event: (event, sequence_number) => ({ ...event, sequence_number, created_at: event.created_at ?? TIME }) },
  /** Lines end as on Windows. */
  CRLF: { frame: (json, number) => `data: ${json}\r\nid: ${number}\r\n\r\n` },
};

const ABSENT = {
  created_at: null, name: null, content: null, reasoning_content: null, refusal: null, tool_calls: null, finish_reason: null, usage: null,
};
