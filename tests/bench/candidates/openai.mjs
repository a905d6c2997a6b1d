// Candidate "openai": the helper that streams a chat completion, event by event, and keeps what it comes to.
import OpenAI from "openai";

export async function prepare({ fetch, baseUrl }) {
  const client = new OpenAI({ apiKey: "any", baseURL: baseUrl, fetch: (url, init) => fetch(String(url), init), dangerouslyAllowBrowser: true });
  const consume = async () => {
    const stream = client.chat.completions.stream({ model: "gpt-4.1", messages: [{ role: "user", content: "Hello" }] });
    let text = "";
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    const whole = await stream.finalContent();
    if (whole !== text) throw new Error("openai's pieces are not its message");
    return { text };
  };
  return { ready: async () => ({ consume }) };
}
