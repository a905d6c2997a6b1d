// Formats JSON that is still arriving: reads every character once, and never changes what it has formatted.

/** Longer arguments are not shown in full. In UTF-16 units of the formatted text. */
export const PRINT_LIMIT = 20_000;

export class JsonPrinter {
  #source = "";
  #read = 0;
  #printed = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** An opening bracket whose first member has not come yet: `{}` stays on one line. */
  #justOpened = false;

  /** The formatted form of `source`, which usually begins with the text of the last call. */
  print(source: string): string {
    if (source.length < this.#source.length) this.#restart();
    this.#source = source;
    while (this.#read < source.length && this.#printed.length < PRINT_LIMIT) {
      this.#character(source.charAt(this.#read));
      this.#read += 1;
    }
    return this.#printed;
  }

  /** The length of the source that is not shown. */
  get hidden(): number {
    return this.#source.length - this.#read;
  }

  #character(character: string): void {
    if (this.#inString) {
      this.#printed += character;
      if (this.#escaped) this.#escaped = false;
      else if (character === "\\") this.#escaped = true;
      else if (character === '"') this.#inString = false;
      return;
    }
    switch (character) {
      case " ":
      case "\n":
      case "\r":
      case "\t":
        return;
      case "}":
      case "]":
        this.#depth = Math.max(0, this.#depth - 1);
        if (!this.#justOpened) this.#newLine();
        this.#justOpened = false;
        this.#printed += character;
        return;
    }
    if (this.#justOpened) this.#newLine();
    this.#justOpened = false;
    this.#printed += character;
    if (character === '"') this.#inString = true;
    else if (character === ":") this.#printed += " ";
    else if (character === ",") this.#newLine();
    else if (character === "{" || character === "[") {
      this.#depth += 1;
      this.#justOpened = true;
    }
  }

  #newLine(): void {
    this.#printed += `\n${"  ".repeat(this.#depth)}`;
  }

  #restart(): void {
    this.#read = 0;
    this.#printed = "";
    this.#depth = 0;
    this.#inString = this.#escaped = this.#justOpened = false;
  }
}

/** The beginning of arguments in one line, such as `city: Paris, days: 3`; empty if there is nothing to show. */
export function summarise(args: string): string {
  return args
    .slice(0, 160)
    .replace(/[{}[\]"\\]/g, "")
    .replace(/\s+/g, " ")
    .replace(/([:,])(?=\S)/g, "$1 ")
    .trim();
}
