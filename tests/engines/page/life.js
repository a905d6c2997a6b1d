// A page as an application has it: it begins a conversation, and resumes it when it returns.
import { connect } from "/dist/index.js";
import { BASE_URL, snapshotOf, uncut } from "./report.js";

const query = new URLSearchParams(location.search);
const input = query.get("input");

globalThis.life = { persisted: 0, numbers: [], turn: undefined, failure: undefined };
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) life.persisted += 1;
});

/** The turn's present state, for the test. */
life.look = () => {
  if (life.failure !== undefined) throw life.failure;
  const { turn, numbers, persisted } = life;
  return turn && { turn: turn.id, status: turn.status, numbers, persisted, snapshot: snapshotOf(turn) };
};
life.uncut = () => uncut(life.turn.session.id, life.turn.id, input);

live().catch((error) => (life.failure = error));

async function live() {
  const client = await connect({ baseUrl: BASE_URL, headers: { "x-turnwire-hold": query.get("hold") } });
  const session = await client.agents.getSession(query.get("session"));
  const turns = await session.resume();
  const turn = turns.at(-1) ?? session.createTurn({ input });
  turn.on("event", ({ sequence_number }) => life.numbers.push(sequence_number));
  life.turn = turn;
  await turn.waitForCompletion();
}
