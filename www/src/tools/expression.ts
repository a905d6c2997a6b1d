// Arithmetic as people write it: numbers, + - * / % ^, parentheses, and a few names. It is never run as code.

/** Longer expressions are not arithmetic of people, and could nest too deep. */
const LONGEST = 500;

const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);

const FUNCTIONS: ReadonlyMap<string, (value: number) => number> = new Map([
  ["sqrt", Math.sqrt],
  ["abs", Math.abs],
  ["round", Math.round],
  ["floor", Math.floor],
  ["ceil", Math.ceil],
  ["ln", Math.log],
  ["log", Math.log10],
  ["sin", Math.sin],
  ["cos", Math.cos],
  ["tan", Math.tan],
]);

/** Characters that people and models write in place of the plain ones. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ["×", "*"],
  ["·", "*"],
  ["÷", "/"],
  ["−", "-"],
  ["–", "-"],
  ["**", "^"],
]);

/** The value of an expression. Throws an error with a sentence if it has none. */
export function calculate(expression: string): number {
  if (expression.length > LONGEST) throw new Error(`The expression is longer than ${LONGEST} characters.`);
  const value = new Parser(expression).whole();
  if (Number.isNaN(value)) throw new Error("The result is not a real number.");
  if (!Number.isFinite(value)) throw new Error("The result is too large.");
  // Round away the errors of binary fractions.
  return Number(value.toPrecision(14));
}

/** A number, a name, or a sign. */
const TOKEN = /\s*((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[a-z]+|\*\*|\S)/giuy;

/** Precedence climbs from method to method: a sum of products of signed powers. */
class Parser {
  readonly #tokens: string[];
  #at = 0;

  constructor(expression: string) {
    this.#tokens = Array.from(expression.matchAll(TOKEN), ([, token = ""]) => SPELLINGS.get(token) ?? token);
  }

  whole(): number {
    if (this.#tokens.length === 0) throw new Error("The expression is empty.");
    const value = this.#sum();
    const rest = this.#tokens[this.#at];
    if (rest === ")") throw new Error("A closing parenthesis has no opening one.");
    if (rest !== undefined) throw new Error(`An operator is missing before “${rest}”.`);
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#takes("+")) value += this.#product();
      else if (this.#takes("-")) value -= this.#product();
      else return value;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      if (this.#takes("*")) value *= this.#signed();
      else if (this.#takes("/")) value /= divisor(this.#signed());
      else if (this.#takes("%")) value %= divisor(this.#signed());
      else return value;
    }
  }

  #signed(): number {
    if (this.#takes("-")) return -this.#signed();
    if (this.#takes("+")) return this.#signed();
    return this.#power();
  }

  /** Its exponent may have a sign, and powers of its own: 2^-3^2 is 2^(-(3^2)). */
  #power(): number {
    const base = this.#operand();
    return this.#takes("^") ? base ** this.#signed() : base;
  }

  #operand(): number {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new Error("The expression ends where a number should stand.");
    this.#at += 1;
    if (token === "(") return this.#inside();
    if (/^[.\d]/.test(token)) return Number(token);
    const name = token.toLowerCase();
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return constant;
    const apply = FUNCTIONS.get(name);
    if (apply === undefined) throw new Error(`“${token}” stands where a number should.`);
    if (!this.#takes("(")) throw new Error(`After “${token}” a parenthesis must open.`);
    return apply(this.#inside());
  }

  /** The expression in parentheses, after the opening one. */
  #inside(): number {
    const value = this.#sum();
    if (!this.#takes(")")) throw new Error("A parenthesis is not closed.");
    return value;
  }

  #takes(sign: string): boolean {
    const isNext = this.#tokens[this.#at] === sign;
    if (isNext) this.#at += 1;
    return isNext;
  }
}

function divisor(value: number): number {
  if (value === 0) throw new Error("It divides by zero.");
  return value;
}
