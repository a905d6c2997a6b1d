// The gateway of the page. All settings but the token are stored; the token stays in memory.

import type { Protocol } from "turnwire";
import { RELAY } from "../connection/relay";
import { defaultAgent, demoAddress, isProtocol } from "./protocols";

export interface Settings {
  readonly baseUrl: string;
  readonly protocol: Protocol;
  readonly agentName: string;
  readonly token: string;
}

const KEY = "turnwire.settings";

/** Behind a relay one whose turns that keeps: another browser, which has no settings yet, then finds what this one shows. */
const FIRST: Protocol = RELAY === undefined ? "truefoundry" : "aap";

/** The gateway that serves this page. */
export function defaultSettings(protocol: Protocol = FIRST): Settings {
  return { baseUrl: demoAddress(protocol), protocol, agentName: defaultAgent(protocol), token: "" };
}

export function loadSettings(): Settings {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    if (typeof stored !== "object" || stored === null) return defaultSettings();
    const defaults = defaultSettings("protocol" in stored && isProtocol(stored.protocol) ? stored.protocol : undefined);
    return {
      ...defaults,
      baseUrl: "baseUrl" in stored && typeof stored.baseUrl === "string" ? stored.baseUrl : defaults.baseUrl,
      agentName: "agentName" in stored && typeof stored.agentName === "string" ? stored.agentName : defaults.agentName,
    };
  } catch {
    // Storage may be forbidden, or contain something else.
    return defaultSettings();
  }
}

export function saveSettings({ baseUrl, protocol, agentName }: Settings): void {
  try {
    // The default URL is not stored: the page may have another origin tomorrow.
    const address = baseUrl === demoAddress(protocol) ? {} : { baseUrl };
    localStorage.setItem(KEY, JSON.stringify({ ...address, protocol, agentName }));
  } catch {
    // Then they hold until the page is closed.
  }
}
