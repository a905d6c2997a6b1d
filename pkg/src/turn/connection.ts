// What all turns on one server share.
import type { CoreClient } from "../boundary/boundary.js";
import type { Capabilities, Conventions } from "../boundary/capabilities.js";
import type { TextStore } from "../common/store.js";
import type { JsonParser } from "../delivery/delivery.js";
import type { Settings, Transport } from "../transport/transport.js";

/** Cuts a stream's chunks into the lines that the core takes. */
export interface StreamLines {
  /** The lines that end in a chunk. */
  whole(chunk: Uint8Array): readonly Uint8Array[];
}

/** Leaves long texts of one turn out of what the core reads, and puts them back where its JSON is parsed. */
export interface TextElision extends JsonParser {
  /** Returns what cuts a stream. While `isWhole` says so, lines are left as they are. */
  lines(maxFrameBytes: number, isWhole: () => boolean): StreamLines;
}

/** Makes that of a turn. */
export type MakeElision = new () => TextElision;

/** A connected server. @internal */
export interface Connection {
  readonly core: CoreClient;
  readonly transport: Transport;
  readonly capabilities: Capabilities;
  readonly settings: Settings & { readonly maxFrameBytes: number };
  readonly conventions: Conventions;
  /** Where conversations are stored that the client keeps; \`undefined\` for the default. */
  readonly store?: TextStore | null | undefined;
  readonly extras: {
    /** If streams may have long texts that the core only hands on. */
    readonly Elision?: MakeElision;
  };
}
