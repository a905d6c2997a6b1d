// Leaves long texts out of the lines that the core reads: results of tools, which the core only hands on, and at the
// end of a turn the text of its last message once more.
import type { LongTexts } from "../delivery/long-texts.js";
import type { Event, ModelMessage, TerminalState } from "../wire/events.js";
import type { SnapshotMirror } from "./snapshot.js";

type ToolResponse = Extract<Event, { type: "tool.response" }>;
type TurnDone = Extract<Event, { type: "turn.done" }>;
type Done = Extract<TerminalState, { status: "done" }>;

/** The end of a run in the form of tirea and awaken. */
interface RunFinish {
  type?: string;
  event_type?: string;
  data?: { result?: { response?: string } };
  result?: { response?: string };
}

/** The length from which a tool's result is long, in UTF-16 code units. */
const LONG = 4096;

/** Shortens lines of a stream, and restores what users see. */
export class Elision {
  readonly #mirror: SnapshotMirror;
  readonly #texts: LongTexts;
  #output: ModelMessage | undefined;
  /** Whether the output was that of a run's result. */
  #isResult = false;

  constructor(mirror: SnapshotMirror, texts: LongTexts) {
    this.#mirror = mirror;
    this.#texts = texts;
  }

  /** Returns a line of the stream without its long text, or the line itself. */
  shorten(line: string): string {
    // A CR may end a line, too. To parse the rest takes less time than to look for the type in it.
    if (!line.startsWith("data:") || line.includes("\r")) return line;
    try {
      const frame = JSON.parse(line.slice(5)) as ToolResponse | TurnDone | RunFinish;
      if (this.#spare(frame)) return `data:${JSON.stringify(frame)}`;
    } catch {
      // Not such a line.
    }
    return line;
  }

  #spare(frame: ToolResponse | TurnDone | RunFinish): boolean {
    switch (frame.type) {
      case "tool.response":
        return this.#spareContent(frame as ToolResponse);
      case "turn.done":
        return this.#spareOutput(frame as TurnDone);
      default:
        return this.#spareResult(frame as RunFinish);
    }
  }

  #spareContent(response: { content: string }): boolean {
    const { content } = response;
    const isLong = typeof content === "string" && content.length >= LONG;
    if (isLong) response.content = this.#texts.keep(content);
    return isLong;
  }

  /** Not if the core would have to complete it. */
  #spareOutput({ state }: TurnDone): boolean {
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
