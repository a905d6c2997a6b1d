// The page of the rows with a bundler: shows the results in the document.
import { connect } from "turnwire";
import { play } from "./play.mjs";

const query = new URLSearchParams(location.search);
const show = (result) => document.body.append(Object.assign(document.createElement("output"), { textContent: JSON.stringify(result) }));
play(connect, query.get("gateway"), query.get("protocols").split(",")).then(show, (error) => show({ error: String(error?.stack ?? error) }));
