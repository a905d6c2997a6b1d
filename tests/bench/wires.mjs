// The wires by name: `frames(story, form)` writes a story as a stream's frames, and `answer(request)` answers what else is
// asked; over a socket `reply(request)` does. Where the first and the last frame name what a request made up, `own` puts that in.
import { aap } from "./wires/aap.mjs";
import { awaken, tirea } from "./wires/agent-event.mjs";
import { agUi, ai, anthropic, openai } from "./wires/peers.mjs";
import { codex, turnRpc } from "./wires/rpc.mjs";
import { truefoundry } from "./wires/truefoundry.mjs";

export const WIRES = { truefoundry, tirea, awaken, aap, "turn-rpc": turnRpc, codex, ai, "ag-ui": agUi, openai, anthropic };
