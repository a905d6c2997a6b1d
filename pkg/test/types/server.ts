// On a server whose compiler knows no DOM: this file only has to compile.
import { connect, type Turn } from "turnwire";
import { init, connect as slimConnect } from "turnwire/slim";
import { connect as aap } from "turnwire/aap";

export async function answer(baseUrl: string, token: string | undefined, signal: AbortSignal): Promise<string> {
  const client = await connect({ baseUrl, token, fetch: undefined, reconnect: undefined });
  const session = await client.agents.createSession("support-bot", { signal });
  const turn: Turn = session.createTurn("Hello");
  let text = "";
  for await (const event of turn.stream({ signal })) {
    if (event.type === "model.message.delta") text += event.content ?? "";
  }
  return text;
}

export const others = [slimConnect, aap];
export const loaded = (bytes: Uint8Array): Promise<void> => init(bytes);
