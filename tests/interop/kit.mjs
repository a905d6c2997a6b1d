// What cases often do in a page, installed there as `globalThis.kit`. What it returns is plain JSON.

/** Runs in the page. */
export function install({ relay, protocol, agent: usual, token, isKept = false }) {
  const { connect, isEventDelta, mergeEventDelta } = globalThis.turnwire;

  /** A client. Where it has a token of its own, the relay replaces that. */
  const client = (options) => connect({ baseUrl: relay, protocol, token, ...(isKept && { relay: true }), ...options });

  /** A new conversation with an agent. */
  const session = async (agent = usual, options) => (await client(options)).agents.createSession(agent);

  /** Resumes a conversation, as after a reload. */
  const reopen = async (id, agentName = usual) => (await client()).agents.getSession(id, { agentName });

  /** Streams a turn to its end; `eventsOf(turn)` are its events so far. */
  async function stream(turn, options) {
    const events = [];
    kept.set(turn, events);
    const off = turn.on("native", (frame) => natives.push(structuredClone(frame)));
    const natives = [];
    nativesOf.set(turn, natives);
    let error = null;
    try {
      for await (const event of turn.stream(options)) events.push(event);
    } catch (thrown) {
      error = thrown;
    }
    off();
    return report(turn, error);
  }
  const kept = new Map();
  const nativesOf = new Map();
  const eventsOf = (turn) => kept.get(turn) ?? [];

  /** Starts a turn with this input, and streams it to its end. */
  const play = (own, input, options) => stream(own.createTurn({ input, ...options }));

  /** Waits until something holds. */
  async function until(holds) {
    for (const last = performance.now() + 10_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 5))) {
      if (performance.now() > last) throw new Error(`not in time: ${holds}`);
    }
  }

  /** Streams a turn, and passes it to `action` after this many words. */
  async function streamUntil(turn, count, action) {
    const streamed = stream(turn);
    await until(() => eventsOf(turn).filter(({ type }) => type === "model.message.delta").length >= count);
    await action(turn);
    return streamed;
  }

  /** The outcome of a turn; `agrees` says whether its events, merged by hand, equal its snapshot. */
  function report(turn, error = null) {
    const events = eventsOf(turn);
    const snapshot = turn.snapshot();
    const messages = new Map();
    for (const event of events) {
      if (event.type === "model.message") {
        // A retried step continues its message.
        const before = messages.get(event.continues);
        messages.delete(event.continues);
        messages.set(event.id, { ...before, ...structuredClone(event), content: (before?.content ?? "") + (event.content ?? "") });
      } else if (event.type === "message.reset") {
        messages.set(event.id, { id: event.id, thread_id: event.thread_id });
      } else if (isEventDelta(event)) mergeEventDelta(messages.get(event.id), event);
    }
    const shown = snapshot.threads.flatMap((thread) => thread.messages);
    const gist = (message) => [message.id, message.content ?? "", message.reasoning_content ?? "", (message.tool_calls ?? []).map(({ id }) => id)];
    const sorted = (list) => JSON.stringify(list.map(gist).sort(([a], [b]) => (a < b ? -1 : 1)));
    return plain({
      id: turn.id,
      // A settled turn has no session.
      session: turn.session?.id,
      status: turn.status,
      error: told(error),
      types: events.map(({ type }) => type),
      natives: nativesOf.get(turn) ?? [],
      events: events.filter(({ type }) => type !== "model.message.delta"),
      numbers: events.map(({ sequence_number }) => sequence_number),
      agrees: sorted([...messages.values()]) === sorted(shown),
      text: (snapshot.threads[0]?.messages ?? []).map(({ content }) => content).filter((content) => content !== "").join("\n"),
      messages: snapshot.threads[0]?.messages ?? [],
      calls: (snapshot.threads[0]?.messages ?? []).flatMap((message) => message.tool_calls),
      snapshot: { ...snapshot, error: told(snapshot.error) },
    });
  }

  const plain = (value) => JSON.parse(JSON.stringify(value));

  /** The fields of an error. */
  const told = (error) =>
    error && { name: error.name, code: error.code, message: error.message, status: error.status, typed: error instanceof turnwire.TurnwireError };

  /** What a call throws, at once or later; `null` if it does not. */
  async function thrown(action) {
    try {
      await action();
      return null;
    } catch (error) {
      return told(error);
    }
  }

  const names = ({ thread_id, tool_call_id }) => ({ thread_id, tool_call_id });
  const allow = (action, more) => ({ type: "user.tool_approval", ...names(action), approval: { status: "allow", ...more } });
  const deny = (action, reason) => ({ type: "user.tool_approval", ...names(action), approval: { status: "deny", reason } });
  /** Answers for all pending calls of a turn, all the same. */
  const answers = (turn, answer = allow, ...more) => turn.snapshot().required_actions.map((action) => answer(action, ...more));

  /** Everything of an async iterable. */
  async function all(iterable) {
    const items = [];
    for await (const item of iterable) items.push(item);
    return items;
  }

  /** Starts a run with nothing but `fetch`, and returns its frames as they come. */
  async function* raw(body, signal) {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${relay}/v1/runs`, { method: "POST", headers, body: JSON.stringify(body), signal });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    let rest = "";
    for (const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const frames = (rest + value).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) yield JSON.parse(frame.slice("data: ".length));
    }
  }

  globalThis.kit = {
    ...{ client, session, reopen, stream, play, streamUntil, until, eventsOf, report, plain, told, thrown },
    ...{ allow, deny, answers, all, raw },
  };
}
