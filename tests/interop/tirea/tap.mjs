// A tap between the relay and the server: passes everything on at once, remembers it, and can cut a stream.
import { createServer, request as open } from "node:http";

/**
 * Starts a tap before `target`, such as `http://127.0.0.1:40123`.
 *
 * Its `records` hold, in order, each request with `method`, `path`, `headers` and `body` (JSON if it is), and
 * of its answer `status`, `text` so far, and `end`: `""` while it comes, then `"done"`, `"left"` by
 * the client, `"broken"` by the server, or `"cut"` or `"refused"` here.
 */
export async function startTap(target) {
  const records = [];
  const lost = new Set();
  const refused = new Set();
  const server = createServer((asked, answer) => {
    const record = { method: asked.method, path: asked.url, headers: asked.headers, body: "", status: 0, text: "", end: "" };
    record.cut = () => {
      record.end = "cut";
      answer.destroy();
      upstream.destroy();
    };
    records.push(record);
    const end = (how) => (record.end ||= how);
    const upstream = open(target + asked.url, { method: asked.method, headers: asked.headers, agent: false }, (answered) => {
      record.status = answered.statusCode;
      if (lost.delete(record.body.threadId)) return record.cut();
      answer.writeHead(answered.statusCode, answered.headers);
      answer.flushHeaders();
      const decoder = new TextDecoder();
      answered.on("data", (bytes) => {
        record.text += decoder.decode(bytes, { stream: true });
        answer.write(bytes);
      });
      answered.on("end", () => {
        end("done");
        answer.end();
      });
      answered.on("error", () => {
        end("broken");
        answer.destroy();
      });
    });
    upstream.setNoDelay(true);
    upstream.on("error", () => {
      end("broken");
      answer.destroy();
    });
    answer.on("close", () => {
      if (!answer.writableFinished) end("left");
      upstream.destroy();
    });
    const body = [];
    asked.on("data", (bytes) => body.push(bytes));
    asked.on("end", () => {
      record.body = parsed(Buffer.concat(body).toString());
      if (refused.delete(record.body.threadId)) {
        record.status = 503;
        end("refused");
        answer.writeHead(503, { "content-type": "text/plain", "retry-after": "1" }).end("busy");
      } else upstream.end(Buffer.concat(body));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    records,
    /** The requests that started or resumed runs of a thread. */
    starts: (thread) =>
      records.filter(({ method, path, body }) => method === "POST" && path === "/v1/runs" && body.threadId === thread),
    /** Answers the next start of a thread with 503, to be retried in a second; it does not reach the server. */
    refuse: (thread) => refused.add(thread),
    /** Cuts the next start of a thread before its answer begins. */
    lose: (thread) => lost.add(thread),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The events of an answer's text; a last, incomplete one is left out. */
export function framesOf({ text }) {
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((frame) => JSON.parse(frame.slice("data: ".length)));
}
