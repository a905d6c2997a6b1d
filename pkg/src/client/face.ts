// The face: what every page downloads, as one file without a core. It has the public classes and the code behind them.
// Entries are built on it, and so is the code that comes with some cores only.
export { passText, roomOf, textAt } from "../boundary/boundary.js";
export { capabilitiesOf, newId } from "../boundary/capabilities.js";
export { Agents, Client, connectWith } from "./client.js";
export { isOffline, limited, onAbort, onReturn, Watch, within } from "../transport/clocks.js";
export {
  AbortError,
  adopted,
  adopting,
  ApiError,
  asTurnwireError,
  busy,
  ConnectionError,
  IncompleteError,
  InputError,
  messageOf,
  ProtocolError,
  StateError,
  TurnFailedError,
  TurnwireError,
} from "../common/errors.js";
export { follows, historyOf, settled } from "./history.js";
export { chunk, compiled, load, started, startFailure } from "./load.js";
export { isEventDelta, mergeEventDelta, ModelMessageBuilder } from "../snapshot/merge.js";
export { checkedInput, demand, demandNames, isObject } from "../common/check.js";
export { Listeners } from "../common/listeners.js";
export { FrameNotifier } from "../delivery/frames.js";
export { grown } from "../snapshot/snapshot.js";
export { demandOptions, list, split } from "../transport/lists.js";
export { Run } from "../tools/run.js";
export { Session } from "./session.js";
export { absolute, askToken, orAborted, stopped, unsent, unsentOf } from "../transport/transport.js";
export { allow, deny, respond } from "../turn/replies.js";
export { Turn } from "../turn/turn.js";
