// The baseline's way over HTTP: one request, whose answer is an event stream.
import { createParser } from "eventsource-parser";

/** What reads turns of a server. */
export function overHttp(fetch, baseUrl) {
  return { session: async (wire) => reader(fetch, baseUrl, wire), close() {} };
}

/** Reads a turn: `take(event)` says whether it goes on, `woken()` is called after each chunk. */
const reader = (fetch, baseUrl, wire) => async (take, woken) => {
  const { path, body } = wire.request("Hello");
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const response = await fetch(`${baseUrl}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the server refused: ${response.status}`);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let goesOn = true;
  const parser = createParser({
    onEvent(message) {
      if (goesOn) goesOn = take(wire.parse(message));
    },
  });
  while (goesOn) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the stream ended before the turn did");
    parser.feed(decoder.decode(value, { stream: true }));
    woken();
  }
  reader.cancel().catch(() => {});
};
