// The types of users that only the `AgentEvent` protocols have, and what they add to those of all protocols.
import type { AgentEvent, AwakenEvent, RelayError } from "../../wire/native.js";

export type { AgentEvent, AwakenEvent, RelayError };

declare module "../../delivery/topics.js" {
  interface NativeUnion {
    /** A frame of tirea's, one of awaken's, and what their relays say. */
    "agent-event": AgentEvent | AwakenEvent | RelayError;
  }
}
