// The parts of the benchmark: each has rows, measures one of them, and says what is printed of the result.
import * as bytes from "./parts/bytes.mjs";
import * as chat from "./parts/chat.mjs";
import * as conversation from "./parts/conversation.mjs";
import * as growth from "./parts/growth.mjs";
import * as memory from "./parts/memory.mjs";
import * as page from "./parts/page.mjs";
import * as start from "./parts/start.mjs";
import * as turns from "./parts/turns.mjs";

export const PARTS = { turns, growth, conversation, page, chat, start, memory, bytes };

/** The rows of all parts. */
export function rowsOf(options) {
  return Object.values(PARTS).flatMap((part) => part.rows(options));
}
