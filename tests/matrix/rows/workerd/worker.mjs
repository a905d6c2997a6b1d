// A Worker that plays the protocol in its address.
import { connect } from "turnwire";
import { play } from "./app/play.mjs";

export default {
  async fetch(request) {
    const query = new URL(request.url).searchParams;
    try {
      return Response.json(await play(connect, query.get("gateway"), query.get("protocols").split(",")));
    } catch (error) {
      return Response.json({ error: String(error?.stack ?? error) });
    }
  },
};
