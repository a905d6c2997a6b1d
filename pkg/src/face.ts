// What every page downloads, as one file without a core: the public classes, and what stands behind them. Entries are
// built on it, and so is what comes with some cores only.
export { capabilitiesOf } from "./capabilities.js";
export { Agents, Client, connectWith } from "./client.js";
export { limited, onAbort, onReturn, Watch } from "./clocks.js";
export {
  AbortError,
  adopting,
  ApiError,
  busy,
  ConnectionError,
  IncompleteError,
  InputError,
  messageOf,
  ProtocolError,
  StateError,
  TurnwireError,
} from "./errors.js";
export { chunk, compiled, load, startFailure } from "./load.js";
export { isEventDelta, mergeEventDelta, ModelMessageBuilder } from "./merge.js";
export { demand } from "./options.js";
export { Run } from "./run.js";
export { Session } from "./session.js";
export { askToken, orAborted, stopped, unsent } from "./transport.js";
export { Turn } from "./turn.js";
