// A WebSocket whose server is in memory: it answers requests, and plays a turn when one is started.
import { exempt } from "./exempt.mjs";

/** A socket that is about to open. `parts` are the messages of a turn, so many to a task. */
export function fakeSocket(wire, parts) {
  const listeners = { open: [], message: [], error: [], close: [] };
  const tell = (type, event) => {
    for (const listener of listeners[type]) listener(event);
  };
  const say = (value) => later(() => tell("message", { data: JSON.stringify(value) }));
  const play = (ids) => {
    // As the network would have it: each message is a text by itself.
    const own = exempt(() => parts.map((part) => part.map((frame) => flat(wire.own(frame, ids)))));
    const step = (at) => {
      if (at === own.length) return;
      for (const data of own[at]) tell("message", { data });
      later(() => step(at + 1));
    };
    later(() => step(0));
  };
  const socket = {
    readyState: 0,
    bufferedAmount: 0,
    addEventListener: (type, listener) => void listeners[type]?.push(listener),
    send(text) {
      const { id, method, params } = JSON.parse(text);
      if (id === undefined) return;
      const { result, ids } = wire.reply({ method, params });
      say({ jsonrpc: "2.0", id, result });
      if (ids) play(ids);
    },
    close() {
      socket.readyState = 3;
    },
    play,
  };
  later(() => {
    socket.readyState = 1;
    tell("open", {});
  });
  return socket;
}

const waiting = [];
let port;

/** Runs a function in a separate task. */
function later(work) {
  if (!port) {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => waiting.shift()();
    channel.port1.unref?.();
    port = channel.port2;
  }
  waiting.push(work);
  port.postMessage(null);
}

/** A text that is one piece in memory. */
function flat(text) {
  text.charCodeAt(0);
  return text;
}
