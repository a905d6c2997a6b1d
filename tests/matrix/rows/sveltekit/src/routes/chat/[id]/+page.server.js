// A conversation that is read on the server, and continued in the page.
import { connect } from "turnwire";
import { load as loadConversation } from "turnwire/conversation";

export const prerender = false;

export async function load({ params: { id }, url }) {
  const baseUrl = `${url.searchParams.get("gateway")}/acme`;
  return { id, baseUrl, initial: await loadConversation(await connect({ baseUrl }), id) };
}
