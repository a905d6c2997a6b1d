import { connect } from "turnwire";

const output = document.querySelector("output");
const protocol = new URLSearchParams(location.search).get("protocol") ?? "truefoundry";
const client = await connect({ baseUrl: `${location.origin}/demo`, protocol });
output.dataset.resume = client.capabilities.resume;
if (protocol === "truefoundry") await converse();

async function converse() {
  const session = await client.agents.createSession("support-bot");
  const turn = session.createTurn({ input: "I would like to file a support ticket." });
  for await (const event of turn.stream()) {
    if (event.type === "model.message.delta") output.textContent += event.content ?? "";
  }
  output.dataset.status = turn.status;
}
