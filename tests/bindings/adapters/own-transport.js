// A transport without turnwire: it repeats the message.
export const own = {
  sendMessages: async ({ messages }) => {
    const { text } = messages.at(-1).parts[0];
    const chunks = [{ type: "start" }, { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: `You said: ${text}` }, { type: "text-end", id: "1" }, { type: "finish" }];
    return new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
  },
  reconnectToStream: async () => null,
};
