// What every row of the matrix runs: one turn of each protocol, on streams that the gateway cuts repeatedly.

/** Cuts every stream after this many events, and every socket after this many messages. */
const CUT = { events: "eof:7", messages: "eof:14" };

/**
 * The gateway's path of a protocol, its agent's name, and whether a cut stream continues with every delta: the
 * others have only whole messages in their records.
 */
const SERVERS = {
  truefoundry: { path: "/acme", agent: "support-bot", hasDeltas: true },
  awaken: { path: "/awaken", agent: "support-bot", hasDeltas: true },
  aap: { path: "/aap", agent: "support-bot", hasDeltas: false },
  "turn-rpc": { path: "/turn-rpc", agent: "Chat", hasDeltas: false },
  // A cut stream is lost, so none is cut.
  "ag-ui": { path: "/ag-ui", agent: "support-bot", hasDeltas: true, isLost: true },
};

/** Plays the protocols; returns for each the text by its events, the text of the snapshot, the status, and the cuts. */
export async function play(connect, gateway, protocols = ["truefoundry"], open = (url) => new WebSocket(url)) {
  const results = {};
  for (const protocol of protocols) {
    const { path, agent, hasDeltas, isLost = false } = SERVERS[protocol];
    const isSocket = protocol === "turn-rpc";
    const client = await connect({
      baseUrl: gateway + path,
      protocol,
      reconnect: { baseDelay: 20, maxDelay: 200 },
      ...(isSocket
        ? { webSocket: (url) => open(`${url}?delay_ms=1&fault=${CUT.messages}`) }
        : { headers: { ...(!isLost && { "x-turnwire-fault": CUT.events }), "x-turnwire-delay-ms": "1" } }),
    });
    const session = await client.agents.createSession(agent);
    const turn = session.createTurn("plain");
    let cuts = 0;
    turn.on("reconnecting", () => (cuts += 1));
    turn.on("waiting", () => (cuts += 1));
    let text = "";
    turn.on("model.message.delta", (delta) => (text += delta.content ?? ""));
    await turn.waitForCompletion({ deadline: 30_000 });
    const shown = turn.snapshot().threads[0].messages.map(({ content }) => content).join("");
    client.close();
    // Deltas may be missing where the record has whole messages; none may come twice.
    const isComplete = hasDeltas || text.length > shown.length;
    results[protocol] = { status: turn.status, text: isComplete ? text : shown, shown, cuts: isLost ? null : cuts };
  }
  return results;
}
