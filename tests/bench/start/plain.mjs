// What a page bundles that speaks one protocol by itself.
import { consume } from "../consumers.mjs";
import { overHttp } from "../candidates/plain/http.mjs";
import { TrueFoundry } from "../candidates/plain/truefoundry.mjs";
import { PlainTurn } from "../candidates/plain/turn.mjs";

export async function prepare({ baseUrl, fetch }) {
  const transport = overHttp(fetch, baseUrl);
  return {
    async ready() {
      const wire = new TrueFoundry();
      const read = await transport.session(wire);
      return { consume: (consumer) => consume(consumer, () => new PlainTurn(read, wire), (event) => wire.textOf(event)) };
    },
  };
}
