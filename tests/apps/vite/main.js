import { connect } from "turnwire";

const output = document.querySelector("output");
const query = new URLSearchParams(location.search);
const protocol = query.get("protocol") ?? "truefoundry";
// A turn that tests look at while it streams must not end before that.
const paced = query.has("view") && { headers: { "x-turnwire-delay-ms": "1" } };
const client = await connect({ baseUrl: `${location.origin}${query.get("path") ?? "/demo"}`, protocol, ...paced });
output.dataset.resume = client.capabilities.resume;
if (query.has("react")) {
  const [session, { render }] = await Promise.all([client.agents.createSession("support-bot"), import("./strict.js")]);
  render(session, query.get("react"), document.querySelector("div"));
} else if (query.has("view")) {
  globalThis.view = { client, ...(await import("./view.js")) };
} else if (protocol === "truefoundry") {
  await converse();
}

async function converse() {
  const session = await client.agents.createSession("support-bot");
  const turn = session.createTurn({ input: "I would like to file a support ticket." });
  for await (const event of turn.stream()) {
    if (event.type === "model.message.delta") output.textContent += event.content ?? "";
  }
  output.dataset.status = turn.status;
}
