// Titles and dates of sessions that this browser has seen, for servers that keep or return none.

export interface Remembered {
  readonly title: string;
  /** The time of the last message sent here, as returned by `Date.now()`; 0 if never. */
  readonly at: number;
  /** The server and the session's agent, if the server does not list sessions. */
  readonly place?: string;
}

const KEY = "turnwire.sessions";
/** Older ones are forgotten. */
const KEPT = 200;

export function remembered(sessionId: string): Remembered | undefined {
  return load().get(sessionId);
}

/** The ids of the sessions that belong to a place. */
export function rememberedAt(place: string): string[] {
  return [...load()].filter(([, known]) => known.place === place).map(([id]) => id);
}

/** Stores a session's title if it has none yet, the time of its last message if there was one, and its place. */
export function remember(sessionId: string, title: string, at?: number, place = load().get(sessionId)?.place): void {
  const sessions = load();
  const known = sessions.get(sessionId);
  // The newest are the last.
  sessions.delete(sessionId);
  sessions.set(sessionId, { title: known?.title || title, at: at ?? known?.at ?? 0, ...(place !== undefined && { place }) });
  try {
    localStorage.setItem(KEY, JSON.stringify([...sessions].slice(-KEPT)));
  } catch {
    // Then they have no titles after a reload.
  }
}

function load(): Map<string, Remembered> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return new Map(Array.isArray(stored) ? stored.filter(isEntry) : []);
  } catch {
    return new Map();
  }
}

function isEntry(entry: unknown): entry is [string, Remembered] {
  if (!Array.isArray(entry)) return false;
  const [id, known] = entry as unknown[];
  const { title, at } = (known ?? {}) as Partial<Remembered>;
  return typeof id === "string" && typeof title === "string" && typeof at === "number";
}
