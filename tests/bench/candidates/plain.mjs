// Candidate "plain": JavaScript as a good engineer writes it for one wire.
import { consume } from "../consumers.mjs";
import { Aap } from "./plain/aap.mjs";
import { AgUi } from "./plain/ag-ui.mjs";
import { Awaken, Tirea } from "./plain/agent-event.mjs";
import { overHttp } from "./plain/http.mjs";
import { Codex, TurnRpc } from "./plain/rpc.mjs";
import { overSocket } from "./plain/socket.mjs";
import { TrueFoundry } from "./plain/truefoundry.mjs";
import { PlainTurn } from "./plain/turn.mjs";

const WIRES = { truefoundry: TrueFoundry, tirea: Tirea, awaken: Awaken, aap: Aap, "ag-ui": AgUi, "turn-rpc": TurnRpc, codex: Codex };

/** Makes turns of this protocol ready; each is to be consumed once. */
export async function prepare({ protocol, baseUrl, fetch, webSocket }) {
  const Wire = WIRES[protocol];
  const transport = webSocket ? await overSocket(webSocket, baseUrl, Wire) : overHttp(fetch, baseUrl);
  return {
    async ready() {
      const wire = new Wire();
      const read = await transport.session(wire);
      const start = () => new PlainTurn(read, wire);
      return { consume: (consumer) => consume(consumer, start, (event) => wire.textOf(event)) };
    },
    close: () => transport.close(),
  };
}
