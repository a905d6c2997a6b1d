// Leaves long texts out of the lines that the core reads. Each family knows its own: `frame-elision.ts`, `run-elision.ts`.
import type { MessageSnapshot } from "../snapshot/snapshot.js";
import type { TextElision } from "../turn/connection.js";
import type { ModelMessage, TerminalState } from "../wire/events.js";
import { Lines } from "./lines.js";

/** The text of bytes of a stream. */
export const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Parses the JSON of a line of a stream. */
export const parsed = (line: string): unknown => JSON.parse(line.replace(/^data:/, ""));

/** Shortens lines of a stream, and restores what users see. */
export abstract class Elision<Frame> implements TextElision {
  /** The last frame of a turn contains this. */
  protected abstract readonly end: string;
  /** The message of this id, or the last one of the main thread. */
  protected readonly lastMessage: (id?: string) => MessageSnapshot | undefined;
  /** The output that was left out of the turn's end. */
  protected output: ModelMessage | undefined;

  constructor(lastMessage: (id?: string) => MessageSnapshot | undefined) {
    this.lastMessage = lastMessage;
  }

  /** Takes the output out of a turn's last frame; returns whether it could. */
  protected abstract spare(frame: Frame): boolean;

  parse(json: string): unknown {
    return JSON.parse(json);
  }

  lines(maxFrameBytes: number, isWhole: () => boolean): Lines {
    return new Lines(maxFrameBytes, (line) => (isWhole() ? undefined : this.shorten(line)));
  }

  complete(state: TerminalState | undefined): void {
    if (this.output && state?.status === "done") state.output = this.output;
  }

  /** Returns a line of the stream without its long text, if it has one. */
  protected shorten(bytes: Uint8Array): string | undefined {
    const line = decoded(bytes);
    if (!line.includes(this.end)) return undefined;
    try {
      const frame = parsed(line) as Frame;
      return this.spare(frame) ? `data:${JSON.stringify(frame)}` : undefined;
    } catch {
      // Not such a line.
      return undefined;
    }
  }
}
