// The end of a turn says once more what its last message says, which may be megabytes: the core is spared it.
import type { Event, ModelMessage, TerminalState } from "../wire/events.js";
import type { SnapshotMirror } from "./snapshot.js";

type TurnDone = Extract<Event, { type: "turn.done" }>;
type Done = Extract<TerminalState, { status: "done" }>;

/** The end of a run, as tirea and awaken say it. */
interface RunFinish {
  type?: string;
  event_type?: string;
  data?: { result?: { response?: string } };
  result?: { response?: string };
}

/** One of these is in each line that has an output. */
const ENDS = ["turn.done", "run_finish"];

/** Takes a turn's output out of the stream where the snapshot has it, and puts it back into what users see. */
export class SparedOutput {
  readonly #mirror: SnapshotMirror;
  #output: ModelMessage | undefined;
  /** Whether the output was that of a run's result. */
  #isResult = false;

  constructor(mirror: SnapshotMirror) {
    this.#mirror = mirror;
  }

  /** A line of the stream without an output that the snapshot has, and that needs no completion. */
  shorten(line: string): string {
    if (!ENDS.some((end) => line.includes(end))) return line;
    try {
      const frame = JSON.parse(line.replace(/^data:/, "")) as TurnDone | RunFinish;
      const isShorter = (frame.type === "turn.done" && this.#spare(frame as TurnDone)) || this.#spareResult(frame as RunFinish);
      if (isShorter) return `data:${JSON.stringify(frame)}`;
    } catch {
      // It is something else.
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

  /** Fills in what the core was spared. */
  complete(state: TerminalState | undefined): void {
    if (!this.#output || state?.status !== "done") return;
    state.output = this.#output;
    if (this.#isResult) state.result = { ...(state.result as object), response: this.#output.content };
  }
}
