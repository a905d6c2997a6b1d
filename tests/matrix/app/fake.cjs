// What the rows of test runners play: a turn of each protocol at a fake server, which cuts every stream after a few events.
const AGENTS = { "turn-rpc": "Chat" };

/** Plays a text; returns what `play` of play.mjs does. */
module.exports.playFake = async (connect, fakeServer, text, protocols) => {
  const results = {};
  for (const protocol of protocols) {
    const server = fakeServer(text.match(/\S+\s*/g), { protocol });
    // Where a turn cannot be read again, the history has it.
    server.fail(...Array(20).fill("eof:7"));
    const client = await connect({ ...server.connection, reconnect: { baseDelay: 1, maxDelay: 10, maxAttempts: 30 } });
    const session = await client.agents.createSession(AGENTS[protocol] ?? "agent");
    const before = server.requests.length;
    const turn = session.createTurn("Hello");
    await turn.waitForCompletion();
    // A turn that is not cut is one request. Topics would not tell of each cut: a history may have the rest at once.
    const cuts = server.requests.length - before - 1;
    const shown = turn.snapshot().threads[0].messages.map(({ content }) => content).join("");
    client.close();
    results[protocol] = { status: turn.status, text: shown, shown, cuts };
  }
  return results;
};
