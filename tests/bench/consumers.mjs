// What pages do with a turn. All candidates are consumed by the same code; each has a copy of its own, so that what the
// engine learns of one candidate's objects does not slow down another.

/** Starts a turn and consumes it to its end; returns what it said. */
export function consume(consumer, start, textOf) {
  return CONSUMERS[consumer](start, textOf);
}

const CONSUMERS = {
  /** Iterates over the events. */
  async "for await"(start, textOf) {
    const turn = start();
    let text = "";
    for await (const event of turn.stream()) text += textOf(event);
    return { text, turn };
  },

  /** Has a listener called for each event. */
  async on(start, textOf) {
    const turn = start();
    let text = "";
    turn.on("event", (event) => {
      text += textOf(event);
    });
    await turn.waitForCompletion();
    return { text, turn };
  },

  /** Renders: a snapshot per frame, of which the end of the newest text is looked at. */
  subscribe: (start) => rendered(start, look),

  /** Renders the newest message's calls in each frame, which say of their arguments how long they are. */
  calls: (start) => rendered(start, lookAtCalls),

  /** Iterates, and keeps every event. */
  async keep(start) {
    const turn = start();
    const events = [];
    for await (const event of turn.stream()) events.push(event);
    return { turn, events };
  },

  /** Waits for the first event only. */
  async first(start) {
    const { value } = await start().stream().next();
    return { event: value };
  },

  /** Waits for the end, and looks at it then. */
  async wait(start) {
    const turn = start();
    turn.subscribe(() => {});
    await turn.waitForCompletion();
    return { turn, seen: look(turn.snapshot()) };
  },
};

async function rendered(start, look) {
  const turn = start();
  let seen = 0;
  turn.subscribe(() => {
    seen += look(turn.snapshot());
  });
  await turn.waitForCompletion();
  return { turn, seen: seen + look(turn.snapshot()) };
}

/** Reads a snapshot as a renderer does that shows the newest text: whole, or the engine would not put its pieces together. */
function look({ threads }) {
  const message = threads.at(-1)?.messages.at(-1);
  return message ? message.content.charCodeAt(message.content.length - 1) || 0 : 0;
}

function lookAtCalls({ threads }) {
  let length = 0;
  for (const call of threads.at(-1)?.messages.at(-1)?.tool_calls ?? []) length += call.arguments.length;
  return length;
}
