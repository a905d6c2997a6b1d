// To which gateway the page talks. Everything but the token is remembered; the token lives in memory only.

export type Protocol = "truefoundry" | "trueforge";

export interface Settings {
  readonly baseUrl: string;
  readonly protocol: Protocol;
  readonly agentName: string;
  readonly token: string;
}

const KEY = "turnwire.settings";

/** The gateway that serves this page. */
export function defaultSettings(): Settings {
  return { baseUrl: `${window.location.origin}/demo`, protocol: "truefoundry", agentName: "support-bot", token: "" };
}

export function loadSettings(): Settings {
  const defaults = defaultSettings();
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    if (typeof stored !== "object" || stored === null) return defaults;
    return {
      baseUrl: "baseUrl" in stored && typeof stored.baseUrl === "string" ? stored.baseUrl : defaults.baseUrl,
      protocol: "protocol" in stored && stored.protocol === "trueforge" ? "trueforge" : "truefoundry",
      agentName: "agentName" in stored && typeof stored.agentName === "string" ? stored.agentName : defaults.agentName,
      token: "",
    };
  } catch {
    // Storage may be forbidden, or hold something else.
    return defaults;
  }
}

export function saveSettings({ baseUrl, protocol, agentName }: Settings): void {
  try {
    const defaults = defaultSettings();
    // The default address is not pinned: the page may be served from somewhere else tomorrow.
    const address = baseUrl === defaults.baseUrl ? {} : { baseUrl };
    localStorage.setItem(KEY, JSON.stringify({ ...address, protocol, agentName }));
  } catch {
    // Then they hold until the page is closed.
  }
}
