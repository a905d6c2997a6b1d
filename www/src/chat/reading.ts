// How the page reads a turn, and which turns it continues to show.

import type { Session, Turn, TurnInputItem, TurnSnapshot } from "turnwire";
import { contentsOf } from "./attachments";
import type { ShownTurn } from "./ConversationState";
import { isLive } from "./isLive";

/** The page shows a whole conversation at once. */
export const ALL = Number.MAX_SAFE_INTEGER;

/** Reads the rest of the turn's stream, to the end of the turn. */
export async function read(turn: Turn, signal: AbortSignal): Promise<void> {
  // Listeners take the events, in order with the events of the connection.
  for await (const _ of turn.stream({ signal }));
}

/**
 * Aborts with `signal`, but not before the turn has an id: a sent message must arrive, even if the page shows something
 * else by then.
 */
export function onceNamed(turn: Turn, signal: AbortSignal): AbortSignal {
  const leaving = new AbortController();
  const leave = () => {
    if (turn.id !== null) leaving.abort(signal.reason);
    // A turn that continues with answers has no `turn.created` of its own.
    else turn.on("event", () => turn.id !== null && leaving.abort(signal.reason));
  };
  signal.addEventListener("abort", leave, { once: true });
  return leaving.signal;
}

/** Calls `listener` at the turn's first event. */
export function onFirstEvent(turn: Turn, listener: () => void): void {
  const unlisten = turn.on("event", () => {
    unlisten();
    listener();
  });
}

/**
 * All turns of the session, if the server has more than or others than those shown; null otherwise, or if the new ones
 * cannot be read here.
 */
export async function newsOf(
  session: Session,
  shown: readonly ShownTurn[],
  signal: AbortSignal,
): Promise<ShownTurn[] | undefined> {
  const { newestFirst, resume, turnIds } = session.capabilities;
  const newest = await newestOf(session, newestFirst, signal);
  if (!newest || !(turnIds ? isNews : isNewsByNumber)(newest, shown)) return undefined;
  // Its sender reads it, and no other client can.
  if (isLive(newest.turn.snapshot()) && resume === "none") return undefined;
  return withKnown(await session.resume({ signal, turns: ALL }), shown);
}

/** The session's newest turn, as the server lists it, and how many turns it has listed. */
export interface Newest {
  readonly turn: Turn;
  readonly count: number;
}

/** The session's newest turn. Only some servers list it first. */
export async function newestOf(session: Session, isFirst: boolean, signal: AbortSignal): Promise<Newest | undefined> {
  let first: Turn | undefined;
  let last: Turn | undefined;
  let count = 0;
  for await (last of session.listTurns({ ...(isFirst && { limit: 1 }), signal })) {
    first ??= last;
    count += 1;
    if (isFirst) break;
  }
  const turn = (first?.createdAt ?? "") > (last?.createdAt ?? "") ? first : last;
  return turn && { turn, count };
}

/** Whether a listed turn is not shown in its current state: with some servers a turn continues when it is answered. */
export function isNews({ turn: listed }: Newest, shown: readonly ShownTurn[]): boolean {
  const known = shown.findLast((turn) => turn.id === listed.id);
  return known === undefined || !isSettledAlike(known.snapshot(), listed.snapshot());
}

/**
 * The same for servers without ids for turns, which list everything after a message of the user as one turn. They do
 * not report the end of a turn without an answer.
 */
export function isNewsByNumber({ turn: listed, count }: Newest, shown: readonly ShownTurn[]): boolean {
  const said = shown.filter(({ input }) => input.some(({ type }) => type === "user.message")).length;
  const last = shown.at(-1)?.snapshot();
  const waits = last?.status === "done" && last.required_actions.length > 0;
  return count !== said || (waits && !isSettledAlike(last, listed.snapshot()));
}

/** The turns. Known ones that have not changed stay the same objects, so that they need not render again. */
export function withKnown(turns: readonly ShownTurn[], known: readonly ShownTurn[]): ShownTurn[] {
  const before = new Map(known.map((turn) => [turn.id, turn]));
  return turns.map((turn) => {
    const old = before.get(turn.id);
    return old && !isLive(turn.snapshot()) && isAlike(old, turn) ? old : turn;
  });
}

/** Some servers keep a question and what followed its answer as one turn, which was two turns while it was streamed. */
function isAlike(one: ShownTurn, other: ShownTurn): boolean {
  const inputOf = ({ input }: ShownTurn) => JSON.stringify(input);
  return isSettledAlike(one.snapshot(), other.snapshot()) && inputOf(one) === inputOf(other);
}

function isSettledAlike(one: TurnSnapshot, other: TurnSnapshot): boolean {
  return one.status === other.status && one.required_actions.length === other.required_actions.length;
}

/** The first words of the message; gateways that make titles themselves ignore it. */
export function titleFor(message: TurnInputItem): string {
  if (message.type !== "user.message") return "";
  const { texts, files } = contentsOf(message);
  return [...texts, ...files.map((file) => file.name)].join(" ").trim().replace(/\s+/g, " ").slice(0, 60);
}
