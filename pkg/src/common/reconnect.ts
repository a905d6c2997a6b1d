// How persistently a lost connection is recovered: the option `reconnect`.
import { demandNames, demandWhole } from "./check.js";

/** How persistently a lost connection of a turn is recovered. */
export interface ReconnectOptions {
  /**
   * Tries in a row that may bring nothing new; 10 by default. When they are used up the turn itself is asked, and waited for
   * if it runs (`"waiting"`): that uses up none.
   */
  maxAttempts?: number;
  /** The longest wait before the first of them, in milliseconds; 500 by default. It doubles with every try. */
  baseDelay?: number;
  /** The longest wait of all, in milliseconds, unless the server asks for more; 8000 by default. */
  maxDelay?: number;
}

/** The same, complete. */
export type Reconnect = readonly [maxAttempts: number, baseDelay: number, maxDelay: number];

const NAMES = ["maxAttempts", "baseDelay", "maxDelay"] as const;

/** What holds without the option. */
export const RECONNECT: Reconnect = [10, 500, 8000];

/** The option `reconnect`, completed. Throws an `InputError` that names what is wrong with it. */
export function checkedReconnect(given: ReconnectOptions | false | undefined, defaults: Reconnect): Reconnect {
  if (given == null) return defaults;
  if (given === false) return [0, 0, 0];
  demandNames("reconnect", given, NAMES);
  // A client that recovers nothing has no delays for a call that does.
  const known = defaults[0] > 0 ? defaults : RECONNECT;
  return NAMES.map((name, at) => {
    const value = given[name] ?? known[at]!;
    demandWhole(name, value);
    return value;
  }) as [number, number, number];
}
