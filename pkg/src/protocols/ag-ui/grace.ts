// Leaves streams that a server keeps open after the end of their turns: the core says how long to go on reading (AG-UI).
import type { Exports } from "../../boundary/boundary.js";
import { ConnectionError } from "../../client/face.js";
import type { StreamBody, Transport } from "../../transport/transport.js";
import type { Connection } from "../../turn/connection.js";

/** The exports that only the core of these protocols has. */
type GraceExports = Exports & { conversationGrace(turn: number): number };

/**
 * From now on, the streams of this server are left. Only this family needs it, so that other pages need not load it. Returns
 * what opens a stream of which that does not hold, because no turn reads it.
 */
export function leaveEndedStreams({ core, transport }: Connection): Transport["open"] {
  const open = transport.open.bind(transport);
  transport.open = async (...asked) => {
    const answer = await open(...asked);
    return typeof answer === "string" ? answer : { read: (...given) => read(answer, ...given) };
  };
  return open;

  async function read(body: StreamBody, ...[push, watch, reader]: Parameters<StreamBody["read"]>): Promise<void> {
    let grace = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const take = (chunk: Uint8Array): boolean => {
      const goesOn = push(chunk);
      const before = grace;
      grace = (core.coreExports as GraceExports).conversationGrace(reader.core.coreNumber);
      // Comments do not restart the timer.
      if (grace !== before) {
        clearTimeout(timer);
        if (grace > 0) timer = setTimeout(() => watch.cut(new ConnectionError("timeout", "the server keeps the stream open")), grace);
      }
      return goesOn;
    };
    try {
      await body.read(take, watch, reader);
    } finally {
      clearTimeout(timer);
    }
  }
}
