// Titles and dates of sessions, for servers that keep or tell none: what this browser has seen of them.

export interface Remembered {
  readonly title: string;
  /** When something was last said here, as `Date.now()` gives it; 0 if never. */
  readonly at: number;
  /** Where the server is, and which agent's session it is, where the server does not list it. */
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

/** Keeps a session's title, if it has none yet, when something was said, if it was, and where it belongs. */
export function remember(sessionId: string, title: string, at?: number, place = load().get(sessionId)?.place): void {
  const sessions = load();
  const known = sessions.get(sessionId);
  // The newest are the last.
  sessions.delete(sessionId);
  sessions.set(sessionId, { title: known?.title || title, at: at ?? known?.at ?? 0, ...(place !== undefined && { place }) });
  try {
    localStorage.setItem(KEY, JSON.stringify([...sessions].slice(-KEPT)));
  } catch {
    // Then they have no titles once the page was loaded anew.
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
