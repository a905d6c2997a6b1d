// A page of a session's history as the plan reads it.
import type { History } from "../client/history.js";
import type { TurnSnapshot, TurnStatus } from "../snapshot/snapshot.js";
import type { TurnInputItem } from "../wire/events.js";
import type { ListedTurn, WaitingCall } from "./plan/facts.js";
import { endOf, steeredIn } from "./reading.js";

/** The turns of a page in the order in which they began, including those of other branches. */
export function listedTurns(page: History, waitingIn: (snapshot: TurnSnapshot) => WaitingCall[]): ListedTurn[] {
  const listed: { readonly turn: ListedTurn; readonly began: number }[] = [];
  const put = (turn: ListedTurn, createdAt: string | null): void => void listed.push({ turn, began: Date.parse(createdAt ?? "") });
  const branches = new Set(page.branches);
  // A turn comes after its previous turn, even if servers do not return when they began.
  const putBranches = (previous: string | null): void => {
    for (const record of page.branches) {
      if (record.previous_turn_id !== previous || !branches.delete(record)) continue;
      put(listedTurn(record.id, previous, record.input, record.state.status), record.created_at);
      putBranches(record.id);
    }
  };
  for (const [at, turn] of page.entries()) {
    if (at === 0) putBranches(turn.previousTurnId);
    const snapshot = turn.snapshot();
    put({ ...listedTurn(turn.id!, turn.previousTurnId, turn.input, turn.status), calls: waitingIn(snapshot), said: steeredIn(snapshot) }, turn.createdAt);
    putBranches(turn.id);
  }
  if (page.branches.length > 0 && listed.every(({ began }) => began > 0)) listed.sort((one, other) => one.began - other.began);
  return listed.map(({ turn }) => turn);
}

function listedTurn(id: string, previous: string | null, input: readonly TurnInputItem[] = [], status: TurnStatus): ListedTurn {
  return {
    id,
    previous: previous ?? "",
    input: input.some(({ type }) => type === "user.message") ? JSON.stringify(input) : "",
    state: endOf(status) ?? "running",
    calls: [],
    said: [],
  };
}
