// A page that returns to several conversations while their turns run.
import { connect } from "/dist/index.js";
import { told } from "./report.js";

const conversations = JSON.parse(new URLSearchParams(location.search).get("conversations"));

/** The present state of each conversation, by its name. */
globalThis.look = () => Object.fromEntries(states.map((state) => [state.name, state.look()]));

const states = conversations.map(({ name, protocol, baseUrl, session, agentName }) => {
  const heard = { waiting: 0, lost: [] };
  let turn;
  let failure = null;
  const follow = async () => {
    const client = await connect({ baseUrl, protocol });
    const turns = await (await client.agents.getSession(session, agentName && { agentName })).resume();
    turn = turns.at(-1);
    turn.on("waiting", () => (heard.waiting += 1));
    turn.on("reconnecting", ({ cause }) => heard.lost.push(told(cause)));
    await turn.waitForCompletion();
  };
  follow().catch((error) => (failure = told(error)));
  const look = () => {
    const { status = null, waiting = null, reconnecting = null, threads = [] } = turn?.snapshot() ?? {};
    const text = threads[0]?.messages.map(({ content }) => content).join("") ?? "";
    return { status, waiting, reconnecting, text, failure, heard };
  };
  return { name, look };
});
