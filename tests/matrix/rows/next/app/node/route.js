import { connect } from "turnwire";
import { play } from "../../play.mjs";

export const runtime = "nodejs";
export const dynamic = "force-dynamic";

export async function GET(request) {
  const query = new URL(request.url).searchParams;
  try {
    return Response.json(await play(connect, query.get("gateway"), query.get("protocols").split(",")));
  } catch (error) {
    return Response.json({ error: String(error?.stack ?? error) });
  }
}
