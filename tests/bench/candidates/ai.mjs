// Candidate "ai": the stream as its own chat transport reads it, and the message that it comes to.
import { parseJsonEventStream, readUIMessageStream, uiMessageChunkSchema } from "ai";

export async function prepare({ fetch, baseUrl }) {
  const consume = async () => {
    const response = await fetch(`${baseUrl}/api/chat`, { method: "POST", body: "{}" });
    const chunks = parseJsonEventStream({ stream: response.body, schema: uiMessageChunkSchema }).pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          if (!chunk.success) throw chunk.error;
          controller.enqueue(chunk.value);
        },
      }),
    );
    let last;
    for await (const message of readUIMessageStream({ stream: chunks })) last = message;
    return { text: last.parts.map(({ type, text }) => (type === "text" ? text : "")).join("") };
  };
  return { ready: async () => ({ consume }) };
}
