// What a page bundles that uses turnwire: the package, and what its own bundler makes of that.
import { connect } from "turnwire";
import { consume } from "../consumers.mjs";

export async function prepare({ protocol, baseUrl, fetch }) {
  const client = await connect({ baseUrl, protocol, fetch });
  return {
    async ready() {
      const session = await client.agents.createSession("support-bot");
      const textOf = (event) => (event.type === "model.message.delta" && event.content) || "";
      return { consume: (consumer) => consume(consumer, () => session.createTurn({ input: "Hello" }), textOf) };
    },
  };
}
