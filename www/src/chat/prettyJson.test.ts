import { describe, expect, it } from "vitest";
import { JsonPrinter, PRINT_LIMIT, summarise } from "./prettyJson";

const VALUE = { city: 'Paris, "TX"', days: [1, 2, { deep: null }], none: {}, empty: [], path: "C:\\temp{}" };

describe("JsonPrinter", () => {
  it("prints as JSON.stringify does", () => {
    expect(new JsonPrinter().print(JSON.stringify(VALUE))).toBe(JSON.stringify(VALUE, null, 2));
    expect(new JsonPrinter().print(JSON.stringify(VALUE, null, 7))).toBe(JSON.stringify(VALUE, null, 2));
  });

  it("returns the same however the text arrives, and never takes back what it printed", () => {
    const source = JSON.stringify(VALUE);
    const printer = new JsonPrinter();
    let before = "";
    for (let end = 0; end <= source.length; end += 1) {
      const printed = printer.print(source.slice(0, end));
      expect(printed.startsWith(before)).toBe(true);
      before = printed;
    }
    expect(before).toBe(JSON.stringify(VALUE, null, 2));
  });

  it("stops at its limit and says how much is left", () => {
    const printer = new JsonPrinter();
    const source = JSON.stringify("x".repeat(3 * PRINT_LIMIT));
    expect(printer.print(source)).toHaveLength(PRINT_LIMIT);
    expect(printer.hidden).toBe(source.length - PRINT_LIMIT);
  });

  it("starts over when the text is another one", () => {
    const printer = new JsonPrinter();
    printer.print('{"a":1}');
    expect(printer.print("[]")).toBe("[]");
  });
});

describe("summarise", () => {
  it("fits the beginning into one line", () => {
    expect(summarise('{"city":"Paris","days":3}')).toBe("city: Paris, days: 3");
    expect(summarise("{}")).toBe("");
  });
});
