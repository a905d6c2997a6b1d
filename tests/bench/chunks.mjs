// Chunkings: how a stream's bytes are cut by the network.
import { random } from "./random.mjs";

const encoder = new TextEncoder();

/** The ways to cut; each takes a stream's frames, as texts. */
export const CHUNKINGS = {
  /** As a server sends that flushes after each event. */
  event: (frames) => frames.map((frame) => encoder.encode(frame)),
  /** As a proxy sends that gathers, or a replay. */
  "16 KiB": (frames) => cut(encoder.encode(frames.join("")), () => 16 * 1024),
  /** Anywhere, also inside of characters: from 1 byte to 16 KiB, each magnitude as likely. */
  random: (frames) => {
    const draw = random(frames.length);
    return cut(encoder.encode(frames.join("")), () => Math.floor(2 ** (14 * draw())));
  },
};

/** Messages of a socket, which are never cut: as many to a task as a chunk of a stream would have. */
export function groups(frames, chunking) {
  const draw = random(frames.length);
  const size = { event: () => 0, "16 KiB": () => 16 * 1024, random: () => Math.floor(2 ** (14 * draw())) }[chunking];
  const parts = [];
  for (let at = 0; at < frames.length; ) {
    const part = [];
    for (let left = size(); left >= 0 && at < frames.length; at += 1) {
      part.push(frames[at]);
      left -= frames[at].length;
    }
    parts.push(part);
  }
  return parts;
}

function cut(bytes, size) {
  const chunks = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + size();
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  return chunks;
}
