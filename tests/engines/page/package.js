// Plays cases with the package.
import { connect } from "/dist/index.js";
import { play } from "./play.js";
import { offer } from "./player.js";

offer((plan, controller) => play(connect, plan, controller));
