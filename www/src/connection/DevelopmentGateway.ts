// What the development gateway can do beyond the protocol, as far as this page uses it: cut connections.

import type { Settings } from "../settings/settings";

export class DevelopmentGateway {
  readonly #origin: string;
  readonly #headers: Record<string, string>;

  private constructor(origin: string, headers: Record<string, string>) {
    this.#origin = origin;
    this.#headers = headers;
  }

  /**
   * The development gateway, if that is what the settings point at; null for any other. Only the server that the page
   * came from is asked: elsewhere a refusal would be an error in the browser's console.
   */
  static async find({ baseUrl, token }: Settings, signal: AbortSignal): Promise<DevelopmentGateway | null> {
    try {
      const { origin } = new URL(baseUrl);
      if (origin !== window.location.origin) return null;
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      const response = await fetch(`${origin}/_gateway/streams`, { headers, signal });
      const answer: unknown = response.ok ? await response.json() : null;
      const isOurs = typeof answer === "object" && answer !== null && "open" in answer;
      return isOurs ? new DevelopmentGateway(origin, headers) : null;
    } catch {
      // Nothing is missing without it.
      return null;
    }
  }

  /** Resets the connections of the session's open streams. The turn does not notice. */
  async cut(sessionId: string): Promise<void> {
    const url = `${this.#origin}/_gateway/sessions/${encodeURIComponent(sessionId)}/cut?how=reset`;
    try {
      await fetch(url, { method: "POST", headers: this.#headers });
    } catch {
      // Then the connection is gone anyway, and the turn says so.
    }
  }
}
