// A tap between the relay and the server: passes all bytes of WebSockets on at once, remembers the messages, and can
// cut the connections.
import { connect, createServer } from "node:net";

/**
 * Starts a tap before `target`, such as `127.0.0.1:40123`.
 *
 * Its `sockets` hold, in order, each connection with the `head` of its request, the `status` of the answer, and as JSON
 * what the client `sent` and what the client `heard`.
 */
export async function startTap(target) {
  const [host, port] = target.split(":");
  const sockets = [];
  const open = new Set();
  let [isAway, isDeaf] = [false, false];
  const server = createServer((client) => {
    if (isAway) return client.resetAndDestroy();
    const upstream = connect({ host, port: Number(port), noDelay: true });
    const socket = { head: "", status: 0, sent: [], heard: [] };
    sockets.push(socket);
    client.setNoDelay(true);
    const cut = () => {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    };
    open.add(cut);
    const sent = reader((head) => (socket.head = head), (message) => socket.sent.push(message));
    const heard = reader((head) => (socket.status = Number(head.split(" ")[1])), (message) => socket.heard.push(message));
    for (const [from, to, read] of [[client, upstream, sent], [upstream, client, heard]]) {
      from.on("data", (bytes) => {
        if (isDeaf && from === client) return;
        read(bytes);
        to.write(bytes);
      });
      from.on("end", () => to.end());
      from.on("error", () => to.destroy());
      from.on("close", () => {
        to.destroySoon();
        open.delete(cut);
      });
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const one of [...open]) one();
  };
  return {
    address: `127.0.0.1:${server.address().port}`,
    sockets,
    /** Cuts all connections. */
    cut,
    /** Cuts all connections, and every new one, until the returned function is called. */
    away() {
      isAway = true;
      cut();
      return () => (isAway = false);
    },
    /** Loses the clients' messages until the returned function is called, which cuts all connections. */
    deaf() {
      isDeaf = true;
      return () => {
        isDeaf = false;
        cut();
      };
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

/** Reads the bytes of one direction of a WebSocket: a head, then frames. Nothing is compressed. */
function reader(onHead, onMessage) {
  let rest = Buffer.alloc(0);
  let isHeadRead = false;
  let parts = [];
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    if (!isHeadRead) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      isHeadRead = true;
      onHead(rest.toString("latin1", 0, end));
      rest = rest.subarray(end + 4);
    }
    for (let frame = frameOf(rest); frame !== undefined; frame = frameOf(rest)) {
      rest = rest.subarray(frame.length);
      // Those above belong to the connection, not to its messages.
      if (frame.opcode > 2) continue;
      parts.push(frame.payload);
      if (!frame.isLast) continue;
      onMessage(JSON.parse(Buffer.concat(parts).toString()));
      parts = [];
    }
  };
}

/** The first frame of these bytes; nothing until it is whole. */
function frameOf(bytes) {
  if (bytes.length < 2) return undefined;
  let [size, from] = [bytes[1] & 0x7f, 2];
  if (size >= 126) {
    from = size === 126 ? 4 : 10;
    if (bytes.length < from) return undefined;
    size = size === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  }
  const isMasked = (bytes[1] & 0x80) !== 0;
  const start = from + (isMasked ? 4 : 0);
  const length = start + size;
  if (bytes.length < length) return undefined;
  const payload = Buffer.from(bytes.subarray(start, length));
  if (isMasked) for (let at = 0; at < size; at += 1) payload[at] ^= bytes[from + (at % 4)];
  return { opcode: bytes[0] & 0x0f, isLast: (bytes[0] & 0x80) !== 0, payload, length };
}
