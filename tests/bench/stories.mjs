// Workloads: what happens in a turn, in the words of no wire. A wire writes a story's steps as its frames.
//
// A step is one of
//   { step: "thread", thread, call, title }        a sub-agent begins; `call` started it
//   { step: "message", thread, message }           a model message begins
//   { step: "text" | "reasoning", message, text }  a piece of it
//   { step: "call", message, index, call, name }   a tool call begins
//   { step: "arguments", message, index, call, text }
//   { step: "finish", message, reason }            the message is whole
//   { step: "result", thread, call, text }         what the tool said
//   { step: "end", thread }                        a sub-agent is done
// The turn's own begin and end belong to the wire.
import { pick, random, token } from "./random.mjs";
import { english, foreign, prose } from "./text.mjs";

/** How many pieces of text a message has at most. */
const MOST = 1000;

/** One thread that says so many pieces of text, in messages of `most`. */
export function talk(pieces, most = MOST, speak = english) {
  const story = new Story(pieces);
  for (let left = pieces; left > 0; left -= most) story.say("main", Math.min(left, most), speak);
  return story.steps;
}

/** The same with a call after each message, which ends in that. */
export function rounds(pieces, most = MOST) {
  const story = new Story(pieces);
  for (let left = pieces; left > 0; left -= most) {
    const message = story.open("main");
    story.pieceOf(message, "text", Math.min(left, most));
    const call = story.callIn(message, 0, "read_log", 1);
    story.close(message, "tool_calls");
    story.result("main", call, 200);
  }
  return story.steps;
}

/** One call whose arguments come in so many pieces. */
export function calling(pieces) {
  const story = new Story(pieces);
  const call = story.ask("main", "write_file", pieces);
  story.result("main", call, 20);
  return story.steps;
}

/** One message of so many pieces, with so many characters each. */
export function speech(pieces, size) {
  const story = new Story(pieces);
  story.say("main", pieces, (draw) => prose(draw, size));
  return story.steps;
}

/** Text full of escapes and of other scripts. */
export const polyglot = (pieces) => talk(pieces, MOST, foreign);

/** Calls with a large result each, and little said between them. */
export function results(count, size) {
  const story = new Story(size);
  for (let at = 0; at < count; at += 1) {
    const call = story.ask("main", "read_log", 3);
    story.result("main", call, size);
  }
  story.say("main", 50);
  return story.steps;
}

/** One message with so many calls, one after the other, whose arguments come in so many pieces each. */
export function calls(count, pieces) {
  const story = new Story(count + pieces);
  const message = story.open("main");
  const made = Array.from({ length: count }, (_, index) => story.callIn(message, index, "read_log", pieces));
  story.close(message, "tool_calls");
  for (const call of made) story.result("main", call, 20);
  return story.steps;
}

/** A sub-agent that says so many messages, of so many pieces each. */
export function subAgentOf(messages, pieces) {
  const story = new Story(messages + pieces);
  const call = story.ask("main", "create_sub_agent", 1);
  const thread = story.thread(call);
  for (let at = 0; at < messages; at += 1) story.say(thread, pieces);
  story.steps.push({ step: "end", thread });
  story.result("main", call, 20);
  return story.steps;
}

/** What an orchestrating agent does: about so many pieces, most of them by three sub-agents at once. */
export function agents(pieces) {
  const story = new Story(pieces + 1);
  while (story.pieces < pieces) {
    const message = story.open("main");
    story.pieceOf(message, "text", 40);
    const starts = [0, 1, 2].map((index) => story.callIn(message, index, "create_sub_agent", 8));
    story.close(message, "tool_calls");
    const threads = starts.map((call) => story.thread(call));
    const bodies = threads.map((thread) => subAgent(story, thread));
    // Their events come in each other's midst.
    for (let running = bodies; running.length > 0; ) {
      const body = pick(story.draw, running);
      if (body.next().done) running = running.filter((other) => other !== body);
    }
    starts.forEach((call, at) => {
      story.steps.push({ step: "end", thread: threads[at] });
      story.result("main", call, 200);
    });
    story.say("main", 120);
  }
  return story.steps;
}

function* subAgent(story, thread) {
  const message = story.open(thread);
  yield* story.piecewise(message, "reasoning", 60);
  yield* story.piecewise(message, "text", 60);
  const call = yield* story.calling(message, 0, "read_log", 12);
  story.close(message, "tool_calls");
  story.result(thread, call, 50_000);
  const last = story.open(thread);
  yield* story.piecewise(last, "text", 250);
  story.close(last, "stop");
}

class Story {
  steps = [];
  /** Pieces of any kind so far. */
  pieces = 0;
  #ids = 0;

  constructor(seed) {
    this.draw = random(seed);
  }

  #id(kind) {
    this.#ids += 1;
    return `${kind}${String(this.#ids).padStart(6, "0")}${token(this.draw, 18)}`;
  }

  open(thread) {
    const message = this.#id("01");
    this.steps.push({ step: "message", thread, message });
    return message;
  }

  close(message, reason) {
    this.steps.push({ step: "finish", message, reason });
  }

  *piecewise(message, step, count, speak = english) {
    for (let at = 0; at < count; at += 1) {
      this.steps.push({ step, message, text: speak(this.draw) });
      this.pieces += 1;
      yield;
    }
  }

  pieceOf(message, step, count, speak) {
    for (const _ of this.piecewise(message, step, count, speak));
  }

  *calling(message, index, name, count) {
    const call = `call_${this.#id("")}`;
    this.steps.push({ step: "call", message, index, call, name });
    yield;
    const whole = JSON.stringify({ query: prose(this.draw, count * 5) });
    for (let at = 0; at < count; at += 1) {
      const text = whole.slice(Math.floor((at * whole.length) / count), Math.floor(((at + 1) * whole.length) / count));
      this.steps.push({ step: "arguments", message, index, call, text });
      this.pieces += 1;
      yield;
    }
    return call;
  }

  callIn(message, index, name, count) {
    const body = this.calling(message, index, name, count);
    for (;;) {
      const { done, value } = body.next();
      if (done) return value;
    }
  }

  say(thread, count, speak) {
    const message = this.open(thread);
    this.pieceOf(message, "text", count, speak);
    this.close(message, "stop");
  }

  /** A message that does nothing but call. */
  ask(thread, name, count) {
    const message = this.open(thread);
    const call = this.callIn(message, 0, name, count);
    this.close(message, "tool_calls");
    return call;
  }

  result(thread, call, size) {
    this.steps.push({ step: "result", thread, call, text: prose(this.draw, size) });
  }

  thread(call) {
    const thread = this.#id("thread-");
    this.steps.push({ step: "thread", thread, call, title: "Read the logs" });
    return thread;
  }
}
