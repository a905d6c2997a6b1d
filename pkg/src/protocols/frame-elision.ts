// The long texts of TrueFoundry's streams: results of tools, and at the end of a turn its last message once more.
import type { Event, TerminalState } from "../wire/events.js";
import { Elision } from "./elision.js";
import { LongTexts } from "./long-texts.js";

type ToolResponse = Extract<Event, { type: "tool.response" }>;
type TurnDone = Extract<Event, { type: "turn.done" }>;
type Done = Extract<TerminalState, { status: "done" }>;

/** The length from which a tool's result is long, in UTF-16 code units. */
const LONG = 4096;

/** Leaves them out. */
export class FrameElision extends Elision<ToolResponse | TurnDone> {
  protected readonly type = /tool\.response|turn\.done/;
  readonly #texts = new LongTexts();

  override parse(json: string): unknown {
    return this.#texts.parse(json);
  }

  protected override spare(frame: ToolResponse | TurnDone): boolean {
    return frame.type === "tool.response" ? this.#spareContent(frame) : frame.type === "turn.done" && this.#spareOutput(frame);
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
      !!output?.thread_id && !output.tool_calls?.length && output.content === this.lastMessage(output.id)?.content;
    if (isKnown) {
      this.output = output;
      (state as Done).output = null;
    }
    return isKnown;
  }
}
