// The agent's own state, as far as it is the agent's: servers keep notes of theirs beside it.

/** The state to show; null where there is nothing. Names that begin with `__` are the server's own business. */
export function agentStateOf(state: unknown): Record<string, unknown> | null {
  if (!isRecord(state)) return null;
  const own = withoutNotes(isWrapped(state) ? state.extensions : state);
  return Object.keys(own).length > 0 ? own : null;
}

/** awaken's form: a number that counts the changes, and below `extensions` what everybody keeps. */
function isWrapped(state: Record<string, unknown>): state is { extensions: Record<string, unknown> } {
  const { extensions, revision, ...rest } = state;
  return isRecord(extensions) && ["number", "undefined"].includes(typeof revision) && Object.keys(rest).length === 0;
}

function withoutNotes(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith("__")));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
