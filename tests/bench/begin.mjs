// Runs inside of a page that was just opened: how long it takes from the import of a module to a turn's first event.
import { serve } from "./server.mjs";
import { talk } from "./stories.mjs";

/** The milliseconds from the import of `url` to the first event; for wires of other packages to a short turn's end. */
export async function begin({ protocol, url, wire = protocol }) {
  const server = serve({ wire, chunking: "event" }, talk(2));
  // The page itself is settled.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const began = performance.now();
  const { prepare } = await import(url);
  const candidate = await prepare({ protocol, ...server });
  const turn = await candidate.ready();
  await turn.consume("first");
  return performance.now() - began;
}
