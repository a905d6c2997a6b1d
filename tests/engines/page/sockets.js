// Plays cases of turns over a WebSocket with the package.
import { connect } from "/dist/index.js";
import { offer } from "./player.js";
import { plain, read, snapshotOf } from "./report.js";

const BASE_URL = `${location.origin.replace(/^http/, "ws")}/turn-rpc`;

/** A short wait between tries keeps a case under a second. */
const RECONNECT = { maxAttempts: 6, baseDelay: 10, maxDelay: 50 };

offer(play);

/** A turn of its own, whose first `cuts` connections have the fault, or behind the `relay` at this URL; and the same one without any. */
async function play({ script, pace, fault, cuts = 1, clocks, at, mode, relay }, controller) {
  const began = performance.now();
  const cut = await turn({ script, pace, fault, cuts, clocks, at, mode, relay }, controller);
  const took = performance.now() - began;
  const uncut = await turn({ script, pace: 0, mode }, controller);
  return { ...cut, uncut: uncut.conversation, took };
}

async function turn({ script, pace, fault, cuts, clocks, at, mode = "Chat", relay }, controller) {
  let connections = 0;
  const webSocket = (address, protocols) => {
    connections += 1;
    // A relay does not forward the gateway's own parameters.
    if (relay) return new WebSocket(address, protocols);
    const url = new URL(address);
    url.searchParams.set("delay_ms", pace);
    if (fault && connections <= cuts) url.searchParams.set("fault", fault);
    return new WebSocket(url);
  };
  const client = await connect({ baseUrl: relay ?? BASE_URL, relay: Boolean(relay), protocol: "turn-rpc", webSocket, reconnect: RECONNECT, ...clocks });
  try {
    const session = await client.agents.createSession(mode);
    const turn = session.createTurn({ input: script });
    const events = [];
    const error = await read(turn, events, { signal: controller.signal }, async ({ sequence_number }) => {
      if (sequence_number !== at?.event) return;
      if (at.what === "cancel") await turn.cancel();
      else if (at.what === "close") client.close();
      else if (at.what === "abort") controller.abort(new Error("enough"));
      else if (at.what.startsWith("http")) await fetch(at.what, { mode: "no-cors" });
      else await fetch(`/_gateway/sessions/${session.id}/cut?how=${at.what}`, { method: "POST" });
    });
    const [again] = error === null ? await session.history() : [];
    return {
      session: session.id,
      connections,
      error,
      numbers: events.map(({ sequence_number }) => sequence_number),
      types: events.map(({ type }) => type),
      status: turn.status,
      conversation: conversation(turn),
      history: again ? conversation(again) : null,
    };
  } finally {
    client.close();
  }
}

/** The content of a turn, without names and times, which differ each time. */
function conversation(turn) {
  const { status, threads } = snapshotOf(turn);
  const messages = ({ title, messages }) => messages.map(({ content, reasoning_content, finish_reason, tool_calls }) => ({
    title,
    content,
    reasoning_content,
    finish_reason,
    calls: tool_calls.map(({ name, arguments: given, status, response }) => [name, given, status, response?.content ?? null]),
  }));
  return plain({ status, messages: threads.flatMap(messages) });
}
