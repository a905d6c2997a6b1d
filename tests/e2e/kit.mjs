// What tests often do in a page, installed there as `globalThis.kit`.

/** Opens a page with the package and the kit in it. */
export async function openKit(world, prepare) {
  const page = await world.page("/", prepare);
  await page.evaluate(install);
  return page;
}

/** Runs in the page. */
export function install() {
  const { connect, isEventDelta, mergeEventDelta } = globalThis.turnwire;

  /** A client of the gateway, by default at full speed. */
  const client = ({ headers = {}, ...options } = {}) =>
    connect({ baseUrl: `${location.origin}/demo`, headers: { "x-turnwire-delay-ms": "0", ...headers }, ...options });

  const session = async (options) => (await client(options)).agents.createSession("support-bot");

  /** Streams a turn to its end. */
  async function stream(turn, options) {
    const events = [];
    for await (const event of turn.stream(options)) events.push(event);
    return { turn, events };
  }

  /** Starts a turn, and streams it to its end. */
  const play = (own, input) => stream(own.createTurn({ input }));

  /** Reads on until one of these types has come. */
  async function until(iterator, type, count = 1) {
    for (let left = count; left > 0; ) {
      const { done, value } = await iterator.next();
      if (done) throw new Error(`the stream ended before ${type}`);
      if (value.type === type) left -= 1;
    }
  }

  /** The messages of these events, merged by hand. */
  function merged(events) {
    const messages = new Map();
    for (const event of events) {
      if (event.type === "model.message") messages.set(event.id, structuredClone(event));
      else if (isEventDelta(event)) mergeEventDelta(messages.get(event.id), event);
    }
    return [...messages.values()].map(shape);
  }

  /** A message's parts that events, snapshots and lists have in common. */
  const shape = (message) => ({
    id: message.id,
    thread_id: message.thread_id,
    content: message.content ?? "",
    reasoning_content: message.reasoning_content ?? "",
    tool_calls: (message.tool_calls ?? []).map((call) => ({ id: call.id, arguments: call.function?.arguments ?? call.arguments })),
    finish_reason: message.finish_reason ?? null,
  });

  const byId = (one, other) => (one.id < other.id ? -1 : 1);
  const messages = (turn) => turn.snapshot().threads.flatMap((thread) => thread.messages);

  /** The outcome of a whole stream, as JSON; says whether events and snapshot agree. */
  function report({ turn, events }) {
    const snapshot = turn.snapshot();
    const shown = messages(turn).map(shape).sort(byId);
    return {
      status: turn.status,
      types: events.map((event) => event.type),
      dense: events.every((event, at) => event.sequence_number === at + 1),
      agrees: JSON.stringify(merged(events).sort(byId)) === JSON.stringify(shown),
      text: text(turn),
      snapshot: JSON.parse(JSON.stringify(snapshot)),
    };
  }

  /** The text of the main thread. */
  const text = (turn) => turn.snapshot().threads[0].messages.map((message) => message.content).join("\n");

  /** The fields of an error, as JSON. */
  const told = (error) => ({
    name: error.name, code: error.code, status: error.status, message: error.message, typed: error instanceof turnwire.TurnwireError,
  });

  const allow = (action) => ({
    type: "user.tool_approval", thread_id: action.thread_id, tool_call_id: action.tool_call_id, approval: { status: "allow" },
  });
  const deny = (action, reason) => ({ ...allow(action), approval: { status: "deny", reason } });
  const respond = (action, content) => ({
    type: "user.tool_response", thread_id: action.thread_id, tool_call_id: action.tool_call_id, content,
  });

  globalThis.kit = { client, session, stream, play, until, messages, shape, byId, report, text, told, allow, deny, respond };
}
