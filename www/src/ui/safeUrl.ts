// URLs from the wire may be anything, even scripts.

/** The URL if it is one of the web, else null. */
export function safeUrl(url: string): string | null {
  try {
    const { protocol } = new URL(url);
    return protocol === "https:" || protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}
