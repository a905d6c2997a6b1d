import { expect, it } from "vitest";
import { calculate } from "./expression";

it.each([
  ["6*7", 42],
  ["1 + 2 * 3", 7],
  ["(1 + 2) * 3", 9],
  ["10 - 4 - 3", 3],
  ["100 / 10 / 5", 2],
  ["17 % 5", 2],
  ["2 ^ 3 ^ 2", 512],
  ["-2 ^ 2", -4],
  ["2 ^ -1", 0.5],
  ["2 ** 10", 1024],
  ["--3", 3],
  ["6 × 7 ÷ 2 − 1", 20],
  ["0.1 + 0.2", 0.3],
  [".5 + 1.5e3", 1500.5],
  ["sqrt(16) + abs(-2)", 6],
  ["Round(2 * pi)", 6],
  ["ln(e)", 1],
])("%s is %d", (expression, value) => {
  expect(calculate(expression)).toBe(value);
});

it.each([
  ["", "The expression is empty."],
  ["  ", "The expression is empty."],
  ["6 *", "The expression ends where a number should stand."],
  ["6 7", "An operator is missing before “7”."],
  ["(1 + 2", "A parenthesis is not closed."],
  ["1 + 2)", "A closing parenthesis has no opening one."],
  ["* 2", "“*” stands where a number should."],
  ["alert(1)", "“alert” stands where a number should."],
  ["constructor", "“constructor” stands where a number should."],
  ["sqrt 4", "After “sqrt” a parenthesis must open."],
  ["1 / (2 - 2)", "It divides by zero."],
  ["1 % 0", "It divides by zero."],
  ["sqrt(-1)", "The result is not a real number."],
  ["10 ^ 999", "The result is too large."],
  ["1 😀 2", "An operator is missing before “😀”."],
  ["(".repeat(501), "The expression is longer than 500 characters."],
])("of %j it is said what is wrong", (expression, sentence) => {
  expect(() => calculate(expression)).toThrow(new Error(sentence));
});

it("parentheses as deep as they can be do no harm", () => {
  expect(calculate("(".repeat(249) + "1" + ")".repeat(249))).toBe(1);
});
