import { connect } from "turnwire";
import { play } from "../../play.mjs";

// Next.js has to be told that a package may compile WebAssembly. The route is apart from the others: built by webpack,
// Next.js misses a file of an edge route there.
export const config = { runtime: "edge", unstable_allowDynamic: ["**/node_modules/turnwire/**"] };

export default async function handler(request) {
  const query = new URL(request.url).searchParams;
  try {
    return Response.json(await play(connect, query.get("gateway"), query.get("protocols").split(",")));
  } catch (error) {
    return Response.json({ error: String(error?.stack ?? error) });
  }
}
