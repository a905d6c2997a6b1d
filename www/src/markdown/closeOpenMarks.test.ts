import { expect, it } from "vitest";
import { closeOpenMarks } from "./closeOpenMarks";

it.each([
  ["plain text", "plain text"],
  ["**bold", "**bold**"],
  ["all **bold** here", "all **bold** here"],
  ["ends with **", "ends with "],
  ["some `code", "some `code`"],
  ["`code` and ~~gone", "`code` and ~~gone~~"],
  ["see [the gui", "see the gui"],
  ["see [the guide](https://exam", "see the guide"],
  ["see [the guide](https://example.com) now", "see [the guide](https://example.com) now"],
  ["**one\n\n**two", "**one\n\n**two**"],
  ["| a | b |", ""],
  ["| a | b |\n|--", ""],
])("%j becomes %j", (tail, shown) => {
  expect(closeOpenMarks(tail)).toBe(shown);
});
