// What teams put between pages and agents instead of a relay, as short as their guides have it. It keeps a turn's stream, and passes
// it on: `node anchor.mjs resumable AGENT REDIS`, with resumable-stream; `node anchor.mjs streams AGENT`, with a durable-streams server,
// to which the turn is appended and from which its reader gets it. It says where it listens, and ends when its input does.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const [kind, agent, redis] = process.argv.slice(2);
// What the packages tell of themselves is not what the load waits for.
console.log = console.info = () => {};

/** Asks the agent for a turn. */
async function ask(path, body) {
  const response = await fetch(`${agent}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body });
  return response.body;
}

const KINDS = {
  async resumable() {
    const { createResumableStreamContext } = await import("resumable-stream");
    const { createClient } = await import("redis");
    const [publisher, subscriber] = [createClient({ url: redis }), createClient({ url: redis })];
    await Promise.all([publisher.connect(), subscriber.connect()]);
    const context = createResumableStreamContext({ waitUntil: null, publisher, subscriber });
    return async (turn, path, body) => {
      const source = (await ask(path, body)).pipeThrough(new TextDecoderStream());
      return (await context.createNewResumableStream(turn, () => source)).pipeThrough(new TextEncoderStream());
    };
  },

  async streams() {
    const { DurableStreamTestServer } = await import("@durable-streams/server");
    const { DurableStream, IdempotentProducer } = await import("@durable-streams/client");
    const server = new DurableStreamTestServer({ port: 0, host: "127.0.0.1" });
    const url = await server.start();
    return async (turn, path, body) => {
      const contentType = "text/event-stream";
      const stream = await DurableStream.create({ url: `${url}/${turn}`, contentType });
      const keep = async () => {
        const producer = new IdempotentProducer(stream, turn, { lingerMs: 0 });
        for await (const chunk of await ask(path, body)) producer.append(chunk);
        await producer.flush();
        await producer.close();
      };
      keep().catch(() => {});
      const read = await stream.stream({ offset: "-1", live: "sse" });
      return read.bodyStream();
    };
  },
};

const begin = await KINDS[kind]();
const server = createServer(async (request, response) => {
  try {
    let body = "";
    for await (const chunk of request) body += chunk;
    const stream = await begin(request.headers["turnwire-turn"], request.url, body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    await pipeline(Readable.fromWeb(stream), response);
  } catch {
    // The load has what it wanted, and has left; or it misses what it did not get.
    response.destroy();
  }
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`127.0.0.1:${server.address().port}\n`));
process.stdin.on("end", () => process.exit());
process.stdin.resume();
