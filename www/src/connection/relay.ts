// The relay between this page and its agents, if `cargo xtask demo --relay` serves the page, and the way there, which can
// be cut: the gateway behind the relay cannot break the connections before it.

/** Its URL, without a slash at the end; undefined without a relay. */
export const RELAY = globalThis.document?.documentElement.dataset["relay"];

let cutting = new AbortController();

/** `fetch`, with answers that break off when the way is cut. */
export const fetchOverWay: typeof fetch = (input, init) => {
  const signals = init?.signal ? [init.signal, cutting.signal] : [cutting.signal];
  return fetch(input, { ...init, signal: AbortSignal.any(signals) });
};

/** Cuts all of this page's connections to the relay. Other tabs and devices keep theirs. */
export const way = {
  async cut(): Promise<void> {
    cutting.abort(new TypeError("The connection was cut."));
    cutting = new AbortController();
  },
};
