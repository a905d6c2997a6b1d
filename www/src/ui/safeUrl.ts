// Addresses that come from the wire may be anything, also scripts.

/** The address if it is one of the web, else null. */
export function safeUrl(url: string): string | null {
  try {
    const { protocol } = new URL(url);
    return protocol === "https:" || protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}
