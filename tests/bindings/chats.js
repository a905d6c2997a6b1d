// Conversations for the pages: with a server in memory, and with the gateway.
import { connect } from "turnwire";
import { Conversations } from "turnwire/conversation";
import { serverWith, SESSION_ID, talked } from "../bench/past.mjs";
import * as stories from "../bench/stories.mjs";

/**
 * The conversation of a session of the gateway with a turn that runs for a while, as a page opens it, and what it asks:
 * `requests` has each as `GET path`, and `listeners()` says how many its parts have.
 */
export async function openRunning(input) {
  const options = { baseUrl: `${location.origin}/demo`, headers: { "x-turnwire-delay-ms": "5" } };
  const session = await (await connect(options)).agents.createSession("support-bot");
  const turn = session.createTurn({ input });
  await turn.stream().next();
  const requests = [];
  const fetch = (url, init) => {
    requests.push(`${init?.method ?? "GET"} ${new URL(url).pathname.split("/sessions/")[1]}`.replaceAll(session.id, "S").replaceAll(turn.id, "T"));
    return globalThis.fetch(url, init);
  };
  const chat = new Conversations({ client: connect({ ...options, fetch }), agentName: "support-bot", store: null }).open(session.id);
  let listeners = 0;
  for (const part of [chat.rows, chat.status, chat.queue, chat.draft, chat.pending]) count(part);
  const { message } = chat;
  const counted = new WeakSet();
  Object.defineProperty(chat, "message", { value: (key) => (counted.has(message(key)) || counted.add(count(message(key))), message(key)) });
  /** Counts the listeners of a part. */
  function count(part) {
    const { subscribe } = part;
    part.subscribe = (listener) => {
      const unsubscribe = subscribe(listener);
      listeners += 1;
      return () => {
        listeners -= 1;
        unsubscribe();
      };
    };
    return part;
  }
  /** The text of the turn, as the server has it. */
  const whole = async () => (await turn.waitForCompletion(), turn.snapshot().threads[0].messages.map(({ content }) => content).join(""));
  return { chat, requests, listeners: () => listeners, whole };
}

/** The number of frames over which an answer is spread. */
const FRAMES = 60;

/**
 * An answer whose chunks come in all of these frames, however quick or slow the page is: those of the first frame at once, the others after
 * `released`.
 */
function framed(chunks, released) {
  const count = Math.ceil(chunks.length / FRAMES);
  let at = 0;
  const pull = async (controller) => {
    if (at === count) await released;
    if (at % count === 0) await new Promise(requestAnimationFrame);
    if (at < chunks.length) controller.enqueue(chunks[at++]);
    else controller.close();
  };
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers: { "content-type": "text/event-stream" } });
}

/**
 * A conversation with so many earlier messages, of which the next turn tells a story: `["talk", 1000]`. It is not loaded yet. The story
 * stops after its first frame until `release()`.
 */
export function openChat({ earlier, story: [name, ...given] }) {
  const { promise: released, resolve: release } = Promise.withResolvers();
  const client = connect(serverWith(talked(earlier), stories[name](...given), { source: (chunks) => framed(chunks, released) }));
  const chat = new Conversations({ client, agentName: "support-bot", page: earlier, store: null }).open(SESSION_ID);
  return { chat, release };
}
