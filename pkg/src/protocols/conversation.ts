// Histories of servers whose messages do not name their turns: each turn begins with a message of the user.
import { historyOf, InputError, settled } from "../client/face.js";
import type { History, HistoryPage } from "../client/history.js";
import type { ConversationHost } from "../client/load.js";
import type { Turn } from "../turn/turn.js";
import type { SessionEvent, TurnInputItem, TurnRecord, TurnState } from "../wire/events.js";

/**
 * Reads a page of a session's history. Turns that a client of this package started have their ids. `isLive` says
 * whether the last turn, of this id and input, is the one that is still read here.
 */
export async function readConversation(
  host: ConversationHost,
  page: HistoryPage,
  isLive?: (live: Turn, last: { id: string; input: readonly TurnInputItem[] }) => boolean,
): Promise<History> {
  const records = new Map<string, TurnRecord>();
  for await (const [record] of host.records({})) records.set(record.id, record);
  const parts: { id: string; input: TurnInputItem[]; events: SessionEvent["event"][] }[] = [];
  for await (const { turn_id, event } of host.events({})) {
    if (event.type === "turn.created") parts.push({ id: turn_id, input: event.input, events: [] });
    else if (parts.length === 0) parts.push({ id: turn_id, input: [], events: [event] });
    else parts.at(-1)!.events.push(event);
  }
  // Answers continue the turn of the user's message before them. The last of the server's turns has their state.
  const newest = [...records.values()].at(-1);
  if (newest && parts.length > 0) {
    const { state } = newest;
    const { required_actions } = (await host.reread()) ?? {};
    if (required_actions && state.status === "done" && state.required_actions.length === 0) state.required_actions = required_actions;
  }
  const last = page.before ?? page.lastTurnId;
  const isNewest = last === undefined;
  const live = host.liveTurn();
  // Only the last of them may have another id among the server's turns.
  const idAt = (at: number): string => (at === parts.length - 1 && newest?.id) || parts[at]!.id;
  const found = parts.findIndex((_, at) => idAt(at) === last);
  if (!isNewest && found < 0) throw new InputError("invalid_input", `the session's history has no turn \`${last}\``);
  const end = isNewest ? parts.length : page.before === undefined ? found + 1 : found;
  const begin = Math.max(0, end - page.turns);
  const turns = parts.slice(begin, end).map(({ id, input, events }, offset) => {
    const at = begin + offset;
    const isLast = at === parts.length - 1;
    const known = isLast ? newest : records.get(id);
    let state: TurnState = known?.state ?? { status: "done", output: null, required_actions: [] };
    // A turn that was not read to its end keeps that state in the server's records, although others followed it.
    if (!isLast && state.status === "running") state = { status: "cancelled", reason: "abandoned" };
    const turn = host.adopt({ ...known, id: known?.id ?? id, input, state } as TurnRecord, isLast && !live);
    // The stream of a turn that still runs repeats all of it.
    if (turn.isOver || host.isForgotten) turn.fill(events);
    if (isLast) return turn;
    turn.discard();
    return settled(turn);
  });
  if (!isNewest) return historyOf(turns, begin > 0);
  if (live && turns.length > 0) {
    // The turn continues here, and has more than the history.
    if (isLive?.(live, parts.at(-1)!)) turns[turns.length - 1] = live;
  } else host.wasRead(turns.at(-1) as Turn | undefined, newest, parts.flatMap(({ input }) => input).length);
  return historyOf(turns, begin > 0);
}
