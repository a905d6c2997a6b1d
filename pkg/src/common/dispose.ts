// The symbols of `using`. Engines that lack them get those that bundlers fall back to.
/// <reference lib="esnext.disposable" preserve="true" />

/** `Symbol.dispose`. */
export const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");
/** `Symbol.asyncDispose`. */
export const ASYNC_DISPOSE: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");
