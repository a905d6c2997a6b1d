// What all turns on one server share.
import type { CoreClient } from "../boundary/boundary.js";
import type { Capabilities, Conventions } from "../boundary/capabilities.js";
import type { Settings, Transport } from "../transport/transport.js";

/** A connected server. @internal */
export interface Connection {
  readonly core: CoreClient;
  readonly transport: Transport;
  readonly capabilities: Capabilities;
  readonly settings: Settings & { readonly maxFrameBytes: number };
  readonly conventions: Conventions;
}
