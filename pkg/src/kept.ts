// What servers keep of a turn. Where its record does not say what came of it (`"turn-rpc"`), its events do.
import { Call } from "./calls.js";
import type { Limits } from "./clocks.js";
import { AbortError, TurnwireError } from "./errors.js";
import type { Event, ModelMessage, TurnRecord, TurnState } from "./events.js";
import type { Connection } from "./session.js";

/** Reads a turn as the server keeps it. `known` is how it is known to stand. */
export async function readTurn(
  { transport, conventions }: Connection,
  params: object,
  limits: Limits,
  known: TurnState | null = null,
): Promise<TurnRecord> {
  const record: TurnRecord = await transport.ask(Call.GetTurn, params, limits);
  if (!conventions.socket || !isWanting(record.state)) return record;
  if (known?.status === "done") return { ...record, state: known };
  try {
    const { items } = await transport.ask<{ items: Event[] }>(Call.ListTurnEvents, params, limits);
    return { ...record, state: withOutput(record.state, items) };
  } catch (error) {
    // How it stands is known all the same.
    if (error instanceof TurnwireError && !(error instanceof AbortError)) return record;
    throw error;
  }
}

/** A turn's state with what came of it, as its end says that: the last answer among the events that were listed of it. */
export function withOutput<S extends TurnState | null>(state: S, events: readonly Event[]): S {
  if (!isWanting(state)) return state;
  const messages = events.filter((event) => event.type === "model.message") as ModelMessage[];
  // One that was never completed is none; one that was and says nothing is the last word all the same.
  const isAnswer = ({ thread_id, content, finish_reason: reason }: ModelMessage): boolean =>
    thread_id === "main" && (reason === "stop" || (!!content && !!reason && reason !== "interrupted"));
  const { id, thread_id, content } = messages.filter(isAnswer).at(-1) ?? {};
  return id && content ? { ...state, output: { type: "model.message", id, thread_id, content, finish_reason: "stop" } } : state;
}

/** Whether something may have come of a turn that its state does not say. */
function isWanting(state: TurnState | null): boolean {
  return state?.status === "done" && !state.output;
}
