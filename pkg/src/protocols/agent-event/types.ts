// The types of users that only the `AgentEvent` protocols have, and what they add to those of all protocols.
import type { AgentEvent, AwakenEvent, RelayError } from "../../wire/native.js";

export type { AgentEvent, AwakenEvent, RelayError };

declare module "../../delivery/topics.js" {
  interface NativeUnion {
    "agent-event": AgentEvent | AwakenEvent | RelayError;
  }
}
