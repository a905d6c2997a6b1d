// A real WebSocket server that plays a turn as fast as it can: node rpc-server.mjs WIRE STORY, the story as JSON; prints its
// port. A process of its own, so that its writing delays no candidate.
import { WebSocketServer } from "ws";
import * as stories from "./stories.mjs";
import { WIRES } from "./wires.mjs";

const [, , name, told] = process.argv;
const wire = WIRES[name];
const [story, ...given] = JSON.parse(told);
const frames = wire.frames(stories[story](...given));

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", (socket) => {
  socket.on("message", async (text) => {
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return;
    const { result, ids } = wire.reply({ method, params });
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (!ids) return;
    for (let at = 0; at < frames.length && socket.readyState === socket.OPEN; at += 1) {
      socket.send(wire.own(frames[at], ids));
      // Never more than the network takes.
      if (socket.bufferedAmount > 1 << 20) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  });
});
server.on("listening", () => console.log(server.address().port));
