// Long texts that the core does not need. They stay in JavaScript; the core gets a short name in place of each.
import { newId } from "../client/face.js";

/** The long texts of one turn. */
export class LongTexts {
  /** The beginning of all names. Servers cannot guess it, so no text of theirs is taken for a name. */
  #prefix = "";
  readonly #texts: string[] = [];

  /** Keeps a text, and returns its name. Equal texts have one name: the core may compare them. */
  keep(text: string): string {
    this.#prefix ||= newId();
    let at = this.#texts.indexOf(text);
    if (at < 0) at = this.#texts.push(text) - 1;
    return this.#prefix + at;
  }

  /** Parses JSON from the core, with the texts in place of their names. */
  parse(json: string): unknown {
    return this.#texts.length > 0 && json.includes(this.#prefix) ? JSON.parse(json, this.#restore) : JSON.parse(json);
  }

  readonly #restore = (_: string, value: unknown): unknown =>
    typeof value === "string" && value.startsWith(this.#prefix) ? this.#texts[Number(value.slice(this.#prefix.length))] : value;
}
