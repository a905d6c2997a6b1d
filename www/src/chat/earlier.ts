// What began in one turn and continues in another: answered calls, resumed threads, tool servers.

import type { ToolCallSnapshot } from "turnwire";
import type { ShownTurn } from "./ConversationState";

/** A call that was made in one of the turns. */
export function callIn(turns: readonly ShownTurn[], callId: string | undefined): ToolCallSnapshot | undefined {
  if (callId === undefined) return undefined;
  const threads = turns.flatMap((turn) => turn.snapshot().threads);
  const calls = threads.flatMap((thread) => thread.messages).flatMap((message) => message.tool_calls);
  return calls.find((call) => call.id === callId);
}

/** The title of a thread: only the turn in which it began has it. */
export function threadTitleIn(turns: readonly ShownTurn[], threadId: string): string | null {
  for (const turn of turns) {
    const title = turn.snapshot().threads.find((thread) => thread.id === threadId)?.title;
    if (title) return title;
  }
  return null;
}

/** The names of tool servers that the turn uses and no turn before it did. */
export function newServersOf(turn: ShownTurn, turns: readonly ShownTurn[]): string[] {
  const known = new Set<string>();
  for (const other of turns) {
    if (other === turn) break;
    for (const server of other.snapshot().mcp_servers) known.add(server.id);
  }
  const servers = turn.snapshot().mcp_servers.filter((server) => !known.has(server.id));
  return servers.map((server) => server.name);
}
