// The option `reconnect`: how often and how fast to reconnect.
import { demandNames, demandWhole } from "./check.js";

/** How often and how fast to recover a turn's lost connection. */
export interface ReconnectOptions {
  /**
   * The most consecutive attempts that bring nothing new; 10 by default. After them turnwire asks for the turn itself,
   * and polls it while it runs (`"waiting"`). Polls are not counted.
   */
  maxAttempts?: number | undefined;
  /** The longest wait before the first attempt, in milliseconds; 500 by default. It doubles with every attempt. */
  baseDelay?: number | undefined;
  /** The longest wait before any attempt, in milliseconds, unless the server asks for more; 8000 by default. */
  maxDelay?: number | undefined;
}

/** The complete option, as an array. */
export type Reconnect = readonly [maxAttempts: number, baseDelay: number, maxDelay: number];

const NAMES = ["maxAttempts", "baseDelay", "maxDelay"] as const;

/** The default of the option. */
export const RECONNECT: Reconnect = [10, 500, 8000];

/** The complete option `reconnect`. Throws an `InputError` that names the wrong part. */
export function checkedReconnect(given: ReconnectOptions | false | undefined, defaults: Reconnect): Reconnect {
  if (given == null) return defaults;
  if (given === false) return [0, 0, 0];
  demandNames("reconnect", given, NAMES);
  // A client that never reconnects has no delays; take the defaults for a call that does.
  const known = defaults[0] > 0 ? defaults : RECONNECT;
  return NAMES.map((name, at) => {
    const value = given[name] ?? known[at]!;
    demandWhole(name, value);
    return value;
  }) as [number, number, number];
}
