// The server in memory, over HTTP and over a WebSocket: a wire's frames, cut into chunks ahead.
import { CHUNKINGS, groups } from "./chunks.mjs";
import { exempt } from "./exempt.mjs";
import { fakeSocket } from "./socket.mjs";
import { eventStream } from "./source.mjs";
import { WIRES } from "./wires.mjs";

const BASE_URL = "http://memory.test/tenant";
const encoder = new TextEncoder();

/** The form of a wire in which a relay stands before the server. */
export const RELAYED = "behind a relay";

/**
 * What a candidate needs to be prepared: a `fetch` or a `webSocket`, which play this story. `source` makes an answer of a
 * stream's chunks. With a `port` it is a real server on this machine that plays it.
 */
export function serve({ wire: name, form, chunking, port, source = eventStream }, story) {
  const wire = WIRES[name];
  if (port !== undefined) return overNetwork(wire, `ws://127.0.0.1:${port}/any`);
  const frames = wire.frames(story, form);
  if (wire.socket) return overSocket(wire, frames, chunking);
  return form === RELAYED ? behindRelay(wire, frames, chunking, source) : overHttp(wire, frames, chunking, source);
}

/** Each frame has the relay's number, and each answer its headers. */
function behindRelay(wire, frames, chunking, source) {
  const numbered = frames.map((frame, at) => `id: ${at + 1}\n${frame}`);
  const { fetch: asked, ...server } = overHttp(wire, numbered, chunking, source);
  const fetch = async (url, init) => {
    const { body, status, headers } = await asked(url, init);
    return new Response(body, { status, headers: [...headers, ["turnwire-relay", "1"], ["turnwire-log", "00ff"]] });
  };
  return { ...server, fetch, relay: true };
}

function overHttp(wire, frames, chunking, source) {
  // Where the first and the last frame name the turn that was asked for, they are chunks of their own.
  const chunks = CHUNKINGS[chunking](wire.own ? frames.slice(1, -1) : frames);
  const chunksFor = (body) => {
    const [first, last] = [frames[0], frames.at(-1)].map((frame) => encoder.encode(wire.own(frame, body)));
    return [first, ...chunks, last];
  };
  const open = (body) => source(wire.own ? exempt(() => chunksFor(body())) : chunks);
  const fetch = async (url, { method, body }) => wire.answer({ method, path: new URL(url).pathname, stream: () => open(() => JSON.parse(body)) });
  const start = async () => open(() => ({ threadId: "any" }));
  return { baseUrl: BASE_URL, fetch, start };
}

function overSocket(wire, frames, chunking) {
  const parts = groups(frames, chunking);
  const webSocket = () => fakeSocket(wire, parts);
  // A listener that only looks whether a message is the last one.
  const hear = () =>
    new Promise((resolve) => {
      const socket = fakeSocket(wire, parts);
      socket.addEventListener("message", ({ data }) => wire.isLast(data) && resolve({}));
      socket.play({ thread: "any", turn: "any" });
    });
  return { baseUrl: "ws://memory.test/any", webSocket, hear };
}

function overNetwork(wire, baseUrl) {
  const webSocket = (url) => new WebSocket(url);
  const hear = () =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(baseUrl);
      socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: "turn/start", params: wire.named }));
      socket.onerror = () => reject(new Error("the connection broke"));
      socket.onmessage = ({ data }) => {
        if (!wire.isLast(data)) return;
        socket.close();
        resolve({});
      };
    });
  return { baseUrl, webSocket, hear };
}
