// Candidate "ag-ui": the official client's agent over HTTP.
import { HttpAgent } from "@ag-ui/client";

export async function prepare({ fetch, baseUrl }) {
  const consume = async () => {
    const agent = new HttpAgent({ url: `${baseUrl}/agent`, fetch: (url, init) => fetch(String(url), init) });
    let text = "";
    const onTextMessageContentEvent = ({ event }) => {
      text += event.delta;
    };
    await agent.runAgent({}, { onTextMessageContentEvent });
    return { text };
  };
  return { ready: async () => ({ consume }) };
}
