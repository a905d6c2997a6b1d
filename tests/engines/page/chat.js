// The same as life.js with a conversation: it resumes a running turn, and shows each message once.
import { connect } from "/dist/index.js";
import { Conversations } from "/dist/conversation.js";
import { BASE_URL, snapshotOf, uncut } from "./report.js";

const query = new URLSearchParams(location.search);
const input = query.get("input");
const client = connect({ baseUrl: BASE_URL, headers: { "x-turnwire-hold": query.get("hold") } });
const chat = new Conversations({ client, agentName: "support-bot", store: null }).open(query.get("session"));

globalThis.life = { persisted: 0, numbers: [], turn: undefined };
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) life.persisted += 1;
});
chat.on("turn", (turn) => {
  // One object reads a turn, however often its page returns.
  if (life.turn === turn) return;
  life.turn = turn;
  turn.on("event", ({ sequence_number }) => life.numbers.push(sequence_number));
});

/** The turn's present state, for the test. */
life.look = () => {
  const { turn, numbers, persisted } = life;
  const shown = chat.messages.get().map(({ role, text }) => [role, text]);
  return turn && { turn: turn.id, status: turn.status, numbers, persisted, snapshot: snapshotOf(turn), shown, phase: chat.status.get().phase };
};
life.uncut = () => uncut(chat.info.get().sessionId, life.turn.id, input);

chat.attach();
await chat.loaded;
if (chat.rows.get().length === 0) chat.send(input);
