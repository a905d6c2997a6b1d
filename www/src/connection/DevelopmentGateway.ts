// The part of the development gateway's control interface that this page uses: cutting connections.

import { isKept, isRelayed } from "../settings/protocols";
import type { Settings } from "../settings/settings";
import { way } from "./relay";
import { cutScripted, IS_SCRIPTED } from "./scripted";

/** What cuts connections. */
export interface Cutter {
  /** Resets the connections of the session's open streams. The turn does not notice. */
  cut(sessionId: string): Promise<void>;
}

export class DevelopmentGateway implements Cutter {
  readonly #origin: string;
  readonly #headers: Record<string, string>;

  private constructor(origin: string, headers: Record<string, string>) {
    this.#origin = origin;
    this.#headers = headers;
  }

  /**
   * The development gateway, if the settings point to one; `"missing"` if they point to the server of this page, and that
   * is none; null for any other server, and if the token is refused. Asks only the server of the page: elsewhere a refusal
   * would be an error in the browser's console.
   */
  static async find(settings: Settings, signal: AbortSignal): Promise<Cutter | "missing" | null> {
    const { baseUrl, token } = settings;
    if (isKept(settings)) return way;
    if (!isHere(baseUrl) && !isRelayed(settings)) return null;
    if (IS_SCRIPTED) return { cut: cutScripted };
    const { origin } = window.location;
    try {
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      const response = await fetch(`${origin}/_gateway/streams`, { headers, signal });
      const answer: unknown = response.ok ? await response.json() : null;
      const isOurs = typeof answer === "object" && answer !== null && "open" in answer;
      if (isOurs) return new DevelopmentGateway(origin, headers);
      return response.status === 401 || response.status === 403 ? null : "missing";
    } catch {
      return "missing";
    }
  }

  async cut(sessionId: string): Promise<void> {
    const url = `${this.#origin}/_gateway/sessions/${encodeURIComponent(sessionId)}/cut?how=reset`;
    try {
      await fetch(url, { method: "POST", headers: this.#headers });
    } catch {
      // The connection is gone anyway, and the turn reports it.
    }
  }
}

/** Whether the URL is of the server of this page. */
export function isHere(url: string): boolean {
  try {
    return new URL(url).origin === window.location.origin;
  } catch {
    return false;
  }
}
