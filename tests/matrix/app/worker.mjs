// The same in a worker, of any kind: it answers the message with the protocols to play.
import { connect } from "turnwire";
import { play } from "./play.mjs";

const answer = async ({ gateway, protocols }, reply) => {
  try {
    reply(await play(connect, gateway, protocols));
  } catch (error) {
    reply({ error: String(error?.stack ?? error) });
  }
};
globalThis.onmessage = ({ data, source }) => answer(data, (result) => (source ?? globalThis).postMessage(result));
globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => answer(data, (result) => port.postMessage(result));
};
