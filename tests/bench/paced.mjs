// A server whose streams have so many events a second: node paced.mjs, prints its port. The path names the wire and the
// rate: /truefoundry/1000/… . A process of its own, so that its writing delays no candidate.
import { createServer } from "node:http";
import { talk } from "./stories.mjs";
import { WIRES } from "./wires.mjs";

/** For how long, in seconds, there is something to say. */
const LENGTH = 12;
/** How often, in milliseconds, what is due is written. */
const TICK = 2;

const CORS = { "access-control-allow-origin": "*", "access-control-allow-headers": "*", "access-control-max-age": "600" };
const streams = new Set();
const known = new Map();

const server = createServer(async (request, response) => {
  const [, wire, rate, ...rest] = new URL(request.url, "http://server").pathname.split("/");
  for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
  if (request.method === "OPTIONS") return void response.writeHead(204).end();
  const body = [];
  for await (const chunk of request) body.push(chunk);
  const stream = () => {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.flushHeaders();
    response.socket.setNoDelay();
    const open = { response, rate: Number(rate), frames: framesOf(wire, Number(rate)), sent: 0, began: performance.now() };
    streams.add(open);
    response.on("close", () => streams.delete(open));
  };
  const answer = await WIRES[wire].answer({ method: request.method, path: `/${rest.join("/")}`, stream });
  if (answer) response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
});

setInterval(() => {
  const now = performance.now();
  for (const open of streams) {
    const due = Math.min(Math.floor(((now - open.began) * open.rate) / 1000), open.frames.length);
    if (due === open.sent) continue;
    open.response.write(open.frames.slice(open.sent, due).join(""));
    open.sent = due;
    if (due === open.frames.length) open.response.end();
  }
}, TICK);

function framesOf(wire, rate) {
  const key = `${wire} ${rate}`;
  if (!known.has(key)) known.set(key, WIRES[wire].frames(talk(rate * LENGTH)));
  return known.get(key);
}

// All of 127.0.0.0/8: a browser opens six connections to an address.
server.listen(0, "0.0.0.0", () => console.log(server.address().port));
