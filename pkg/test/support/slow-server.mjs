// A fake server whose answers can be late.
import { fakeServer } from "../../dist/testing.js";

/** How many requests read a history, by protocol. */
export const READS = { truefoundry: 2, trueforge: 2, tirea: 3, awaken: 3, aap: 2 };

/** A server that can hold answers back: each answer has the state of its request's time. */
export function slowServer(script, protocol) {
  const server = fakeServer(script, { protocol });
  const { fetch } = server.connection;
  let left = 0;
  let held = null;
  let release = () => {};
  const slow = async (url, init) => {
    const answer = await fetch(url, init);
    if ((init?.method ?? "GET") !== "GET" || left === 0 || (left -= 1) > 0) return answer;
    const body = await answer.text();
    await (held = new Promise((resolve) => (release = resolve)));
    return new Response(body, answer);
  };
  return {
    ...server,
    connection: { ...server.connection, fetch: slow },
    /** Holds back the answer to the `nth` read from now. */
    hold: (nth) => void (left = nth),
    isHolding: () => held !== null,
    release: () => release(),
  };
}
