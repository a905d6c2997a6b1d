// The protocol's own client reads a stream: `node client.mjs URL LIVE [OFFSET]`. LIVE is `false`, `long-poll`, `sse`, or `head` for no
// more than its state. It writes a line of JSON for each chunk, and one for the end.
import { setTimeout as sleep } from "node:timers/promises";
import { DurableStream, stream } from "@durable-streams/client";

const [url, live, offset] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const common = { url, warnOnHttp: false };

async function read() {
  const options = { ...common, live: live === "false" ? false : live, offset, sseResilience: { logWarnings: false } };
  const reading = await stream(options);
  let place;
  reading.subscribeText((chunk) => {
    place = chunk.offset;
    say({ text: chunk.text, offset: place, streamClosed: chunk.streamClosed });
  });
  const end = await reading.closed.then(() => ({ streamClosed: reading.streamClosed, upToDate: reading.upToDate }), failed);
  // Its promise does not wait for the last chunk.
  while (place !== reading.offset) await sleep(5);
  return { end: true, offset: place, ...end };
}

const failed = (error) => ({ end: true, status: error.status, body: error.json ?? error.details, error: String(error) });

say(await (live === "head" ? new DurableStream(common).head() : read()).catch(failed));
process.exit();
