// The end of a turn says once more what its last message says, which may be megabytes: the core is spared it.
import type { Event, ModelMessage, TerminalState } from "./events.js";
import type { SnapshotMirror } from "./snapshot.js";

/** Takes a turn's output out of the stream where the snapshot has it, and puts it back into what users see. */
export class SparedOutput {
  readonly #mirror: SnapshotMirror;
  #output: ModelMessage | undefined;

  constructor(mirror: SnapshotMirror) {
    this.#mirror = mirror;
  }

  /** A line of the stream without an output that the snapshot has, and that needs no completion. */
  shorten(line: string): string {
    try {
      const event = JSON.parse(line.replace(/^data:/, "")) as Event;
      const { state } = event as Extract<Event, { type: "turn.done" }>;
      const { output } = state as Extract<TerminalState, { status: "done" }>;
      if (event.type === "turn.done" && output?.thread_id && !output.tool_calls?.length) {
        if (output.content === this.#mirror.contentOf(output.id)) {
          this.#output = output;
          return `data:${JSON.stringify({ ...event, state: { ...state, output: null } })}`;
        }
      }
    } catch {
      // It is something else.
    }
    return line;
  }

  /** Fills in what the core was spared. */
  complete(state: TerminalState | undefined): void {
    if (this.#output && state?.status === "done") state.output = this.#output;
  }
}
