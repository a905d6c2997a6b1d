// Plays cases with the package, by the entry that the page's address names.
import { play } from "./play.js";
import { offer } from "./player.js";

const { connect } = await import(`/dist/${new URLSearchParams(location.search).get("entry") ?? "index"}.js`);

offer((plan, controller) => play(connect, plan, controller));
