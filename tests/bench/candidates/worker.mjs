// Candidate "worker": the package as `turnwire/worker`, which reads in a worker where no `fetch` of the page's own is given.
import { prepare as prepareAny } from "./turnwire.mjs";

/** Makes turns of this protocol ready; each is to be consumed once. */
export const prepare = (given) => prepareAny({ ...given, fetch: undefined });
