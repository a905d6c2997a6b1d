// Candidate "anthropic": the helper that streams a message, event by event, and keeps what it comes to.
import Anthropic from "@anthropic-ai/sdk";

export async function prepare({ fetch, baseUrl }) {
  const client = new Anthropic({ apiKey: "any", baseURL: baseUrl, fetch: (url, init) => fetch(String(url), init), dangerouslyAllowBrowser: true });
  const consume = async () => {
    const stream = client.messages.stream({ model: "claude-sonnet-4-5", max_tokens: 1024, messages: [{ role: "user", content: "Hello" }] });
    let text = "";
    for await (const event of stream) {
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
    }
    const whole = await stream.finalText();
    if (whole !== text) throw new Error("anthropic's pieces are not its message");
    return { text };
  };
  return { ready: async () => ({ consume }) };
}
