// The demo with a TrueFoundry and a TrueForge server.
import { afterEach } from "node:test";
import { closeDemos, WWW } from "./demo-page.mjs";
import { useWorld } from "./harness.mjs";
import { playCases, playCut, playReload } from "./protocol-cases.mjs";
import { protocolsToPlay } from "../rows.mjs";

const world = useWorld({ www: WWW });
afterEach(closeDemos);

for (const protocol of protocolsToPlay(["truefoundry", "trueforge"])) {
  playCases(world, protocol);
  playCut(world, protocol);
}
playReload(world, "trueforge");
