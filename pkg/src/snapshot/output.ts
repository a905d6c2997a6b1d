// The end of a turn repeats the text of its last message, which may be megabytes. This file leaves it out before the
// core reads it.
import type { Event, ModelMessage, TerminalState } from "../wire/events.js";
import type { SnapshotMirror } from "./snapshot.js";

type TurnDone = Extract<Event, { type: "turn.done" }>;
type Done = Extract<TerminalState, { status: "done" }>;

/** The end of a run in the form of tirea and awaken. */
interface RunFinish {
  type?: string;
  event_type?: string;
  data?: { result?: { response?: string } };
  result?: { response?: string };
}

/** Each line with an output contains one of these. */
const ENDS = ["turn.done", "run_finish"];

/** Removes a turn's output from the stream if the snapshot has it, and restores it in the data that users see. */
export class OutputElision {
  readonly #mirror: SnapshotMirror;
  #output: ModelMessage | undefined;
  /** Whether the output was that of a run's result. */
  #isResult = false;

  constructor(mirror: SnapshotMirror) {
    this.#mirror = mirror;
  }

  /** Returns a line of the stream without its output, if the snapshot has that output and it needs no completion. */
  shorten(line: string): string {
    if (!ENDS.some((end) => line.includes(end))) return line;
    try {
      const frame = JSON.parse(line.replace(/^data:/, "")) as TurnDone | RunFinish;
      const isShorter = (frame.type === "turn.done" && this.#spare(frame as TurnDone)) || this.#spareResult(frame as RunFinish);
      if (isShorter) return `data:${JSON.stringify(frame)}`;
    } catch {
      // Not such a line.
    }
    return line;
  }

  #spare({ state }: TurnDone): boolean {
    const { output } = state as Done;
    const isKnown =
      !!output?.thread_id && !output.tool_calls?.length && output.content === this.#mirror.lastMessage(output.id)?.content;
    if (isKnown) {
      this.#output = output;
      (state as Done).output = null;
    }
    return isKnown;
  }

  #spareResult({ type, event_type, data, result = data?.result }: RunFinish): boolean {
    const message = this.#mirror.lastMessage();
    const isKnown = (type ?? event_type) === "run_finish" && !!result?.response && result.response === message?.content;
    if (isKnown) {
      const { id, thread_id, content } = message!;
      this.#output = { type: "model.message", id, thread_id, content, finish_reason: "stop" } as ModelMessage;
      this.#isResult = true;
      result!.response = "";
    }
    return isKnown;
  }

  /** Restores the removed output. */
  complete(state: TerminalState | undefined): void {
    if (!this.#output || state?.status !== "done") return;
    state.output = this.#output;
    if (this.#isResult) state.result = { ...(state.result as object), response: this.#output.content };
  }
}
