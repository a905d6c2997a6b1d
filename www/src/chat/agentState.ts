// The agent's own state, without the server's internal notes.

/** The state to show; null if there is nothing. Names that begin with `__` are internal to the server. */
export function agentStateOf(state: unknown): Record<string, unknown> | null {
  if (!isRecord(state)) return null;
  const own = withoutNotes(isWrapped(state) ? state.extensions : state);
  return Object.keys(own).length > 0 ? own : null;
}

/** awaken's form: a number that counts the changes, and the shared state in `extensions`. */
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
