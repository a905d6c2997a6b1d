// The long texts of TrueFoundry's streams: results of tools, and at the end of a turn its last message once more.
import type { Event, TerminalState } from "../wire/events.js";
import { Elision, decoded, parsed } from "./elision.js";
import { longString } from "./long-string.js";
import { LongTexts } from "./long-texts.js";

type ToolResponse = Extract<Event, { type: "tool.response" }>;
type TurnDone = Extract<Event, { type: "turn.done" }>;
type Done = Extract<TerminalState, { status: "done" }>;

/** The length from which a tool's result is long, in bytes of JSON. */
const LONG = 4096;
const RESULT = "tool.response";

/** Leaves them out. */
export class FrameElision extends Elision<TurnDone> {
  protected readonly end = "turn.done";
  readonly #texts = new LongTexts();
  readonly #outlines = new Map<string, object>();

  override parse(json: string): unknown {
    return this.#texts.parse(json);
  }

  /** What a copy has in common with its outline is frozen, since all copies share it. */
  copy(json: string, changed: string): Record<string, unknown> {
    let outline = this.#outlines.get(json);
    if (!outline) {
      outline = { ...(JSON.parse(json, (_, value: unknown) => Object.freeze(value)) as object), sequence_number: 0 };
      this.#outlines.set(json, outline);
    }
    return { ...outline, ...(changed && (JSON.parse(changed) as object)) };
  }

  /** The result of a tool is not decoded. */
  protected override shorten(line: Uint8Array): string | undefined {
    const found = longString(line, LONG);
    if (!found) return undefined;
    const head = decoded(line.subarray(0, found.from));
    const tail = decoded(line.subarray(found.to));
    if (!head.includes(RESULT) && !tail.includes(RESULT)) return super.shorten(line);
    const within = (name: string): string => `${head}"${name}"${tail}`;
    try {
      const { type, content } = parsed(within(this.#texts.nextName)) as ToolResponse;
      const isResult = type === RESULT && content === this.#texts.nextName;
      return isResult ? within(this.#texts.keep(line.subarray(found.from, found.to))) : undefined;
    } catch {
      // Not such a line.
      return undefined;
    }
  }

  protected override spare({ type, state }: TurnDone): boolean {
    return type === this.end && this.#spareOutput(state as Done);
  }

  /** Not if the core would have to complete it. */
  #spareOutput(state: Done): boolean {
    const { output } = state;
    const isKnown =
      !!output?.thread_id && !output.tool_calls?.length && output.content === this.lastMessage(output.id)?.content;
    if (isKnown) {
      this.output = output;
      state.output = null;
    }
    return isKnown;
  }
}
