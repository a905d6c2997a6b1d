// What both protocols over a socket have in common.
import type { Peer } from "../socket.js";

/** A refusal, as an exception of a method. */
export class Refusal extends Error {
  readonly code: number;

  constructor(message: string, code = -32600) {
    super(message);
    this.code = code;
  }
}

/** Answers a request with what `answer` returns, or with its refusal. Returns whether it was one that got a result. */
export function respond(peer: Peer, id: unknown, answer: () => object): boolean {
  try {
    peer.reply({ jsonrpc: "2.0", id, result: answer() });
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    peer.reply({ jsonrpc: "2.0", id, error: { code: error.code, message: error.message } });
    return false;
  }
}

/** The text of an input's parts. */
export const inputText = (input: readonly { text?: string }[]): string => input.map(({ text }) => text ?? "").join("");
