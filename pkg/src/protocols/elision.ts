// Leaves long texts out of the lines that the core reads. Each family knows its own: `frame-elision.ts`, `run-elision.ts`.
import type { MessageSnapshot } from "../snapshot/snapshot.js";
import type { TextElision } from "../turn/connection.js";
import type { ModelMessage, TerminalState } from "../wire/events.js";
import { Lines } from "./lines.js";

/** Shortens lines of a stream, and restores what users see. */
export abstract class Elision<Frame> implements TextElision {
  /** Each line with such a text contains this. */
  protected abstract readonly type: RegExp;
  /** The message of this id, or the last one of the main thread. */
  protected readonly lastMessage: (id?: string) => MessageSnapshot | undefined;
  /** The output that was left out of the turn's end. */
  protected output: ModelMessage | undefined;

  constructor(lastMessage: (id?: string) => MessageSnapshot | undefined) {
    this.lastMessage = lastMessage;
  }

  /** Takes the long text out of a frame; returns whether there was one. */
  protected abstract spare(frame: Frame): boolean;

  parse(json: string): unknown {
    return JSON.parse(json);
  }

  lines(maxFrameBytes: number, isWhole: () => boolean): Lines {
    return new Lines(maxFrameBytes, (line) => (isWhole() ? line : this.#shorten(line)));
  }

  complete(state: TerminalState | undefined): void {
    if (this.output && state?.status === "done") state.output = this.output;
  }

  /** Returns a line of the stream without its long text, or the line itself. */
  #shorten(line: string): string {
    if (!this.type.test(line)) return line;
    try {
      const frame = JSON.parse(line.replace(/^data:/, "")) as Frame;
      if (this.spare(frame)) return `data:${JSON.stringify(frame)}`;
    } catch {
      // Not such a line.
    }
    return line;
  }
}
