// A conversation that is read on the server, and continued in the page.
import { connect } from "turnwire";
import { load } from "turnwire/conversation";
import { Chat } from "./chat.jsx";

export default async function Page({ params, searchParams }) {
  const [{ id }, { gateway }] = await Promise.all([params, searchParams]);
  const baseUrl = `${gateway}/acme`;
  return <Chat id={id} baseUrl={baseUrl} initial={await load(await connect({ baseUrl }), id)} />;
}
