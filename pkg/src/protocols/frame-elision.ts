// The long texts of TrueFoundry's streams: results of tools, and the repeated last message at the end of a turn or a thread.
import type { Event } from "../wire/events.js";
import { Elision } from "./elision.js";

type WithText = Extract<Event, { type: "tool.response" | "turn.done" | "thread.done" }>;

/** Leaves them out. */
export class FrameElision extends Elision<WithText> {
  protected readonly kinds = /tool\.response|(turn|thread)\.done/;
  readonly #outlines = new Map<string, object>();

  protected override textIn(frame: WithText): unknown {
    if (frame.type === "tool.response") return frame.content;
    return /\.done$/.test(frame.type) && frame.state.status === "done" && frame.state.output?.content;
  }

  /** Freezes the parts that a copy shares with its outline, since all copies share them. */
  copy(json: string, changed: string): Record<string, unknown> {
    let outline = this.#outlines.get(json);
    if (!outline) {
      outline = { ...(JSON.parse(json, (_, value: unknown) => Object.freeze(value)) as object), sequence_number: 0 };
      this.#outlines.set(json, outline);
    }
    return { ...outline, ...(changed && (JSON.parse(changed) as object)) };
  }
}
