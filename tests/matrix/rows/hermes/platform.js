// The parts of React Native apps besides Hermes: some of it comes with React Native, the rest with the usual packages.
import "./clock.js";
import "core-js/es/array/at";
import "core-js/es/object/from-entries";
import "core-js/es/symbol/async-iterator";
import "core-js/web/dom-exception";
import "core-js/web/queue-microtask";
import "core-js/web/structured-clone";
import "core-js/web/url";
import "core-js/web/url-search-params";
import { Event, EventTarget } from "event-target-shim";
import "text-encoding-polyfill";
import { ReadableStream } from "web-streams-polyfill";

Object.assign(globalThis, { self: globalThis, Event, EventTarget, ReadableStream });
globalThis.console = { log: print, warn: print, error: print, info: print, debug: print };
globalThis.crypto = { getRandomValues: (words) => words.map(() => Math.random() * 2 ** 32) };

// These two look for the globals above when they start.
const { AbortController, AbortSignal } = require("abortcontroller-polyfill/dist/cjs-ponyfill");
const { Headers, Response } = require("whatwg-fetch");

/** A response with a stream, as `expo/fetch` returns it; React Native's own has none. */
class StreamedResponse extends Response {
  constructor(body, init) {
    super(null, init);
    this.body = typeof body === "string" ? streamOf(new TextEncoder().encode(body)) : body;
  }
}

Object.assign(globalThis, { AbortController, AbortSignal, Headers, Response: StreamedResponse });

function streamOf(bytes) {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
