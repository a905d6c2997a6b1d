// Checks of options. The errors name the wrong option.
import { InputError } from "./errors.js";

/** The delay of a timer has 31 bits. */
const MAX_DELAY = 0x7fff_ffff;

/** Whether the value is an object. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Throws an `InputError` unless `holds`. */
export function demand(holds: boolean, message: string): asserts holds {
  if (!holds) throw new InputError("invalid_option", message);
}

/** Throws an `InputError` for a name that is not an option of `method`. */
export function demandNames(method: string, options: object, names: readonly string[]): void {
  demand(isObject(options), `\`${method}\` takes an object of options`);
  for (const name of Object.keys(options)) {
    demand(names.includes(name), `\`${name}\` is not an option of \`${method}\`; there are ${names.join(", ")}`);
  }
}

/** Throws an `InputError` unless the value is a whole number that a timer accepts. */
export function demandWhole(name: string, value: number): void {
  demand(Number.isInteger(value) && value >= 0 && value <= MAX_DELAY, `\`${name}\` must be a whole number from 0 to ${MAX_DELAY}`);
}

/** Options that the core checks, as JSON. */
export function checkedOptions(name: string, given: object): string {
  demand(isObject(given) && !Array.isArray(given), `\`${name}\` must be an object of options`);
  return asJson(given, "invalid_option", name);
}

/** An input as JSON. */
export function checkedInput(given: unknown): string {
  return asJson(given, "invalid_input", "input");
}

function asJson(given: unknown, code: "invalid_input" | "invalid_option", name: string): string {
  let json: string | undefined;
  let cause: unknown;
  try {
    json = JSON.stringify(given);
  } catch (error) {
    cause = error;
  }
  if (json === undefined) throw new InputError(code, `\`${name}\` cannot be written as JSON`, cause ? { cause } : {});
  return json;
}
