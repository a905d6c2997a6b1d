// A server in memory for other packages' pages: each answer is the story in their wire.
import { pacedStream } from "../source.mjs";

/** A `fetch` that answers with these frames, so many a second. */
export function serving(frames, rate) {
  const encoder = new TextEncoder();
  const chunks = frames.map((frame) => encoder.encode(frame));
  return async () => pacedStream(chunks, rate);
}
