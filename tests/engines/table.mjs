// A table of faults and engines, in Markdown.

/** Collects the outcome of each case in each engine. */
export class Table {
  #engines = new Map();
  #rows = new Map();

  /** A column: an engine and its version. */
  addEngine(engine, version) {
    this.#engines.set(engine, `${engine[0].toUpperCase()}${engine.slice(1)} ${version}`);
  }

  /** A row, in the order in which they are added. */
  addRow(group, name) {
    const key = JSON.stringify([group, name]);
    if (!this.#rows.has(key)) this.#rows.set(key, new Map());
  }

  /** A cell: how long it took, or `null` for a failure, or why it cannot be run. */
  add(group, name, engine, took) {
    const text = took === null ? "**failed**" : typeof took === "string" ? took : `ok, ${Math.round(took)} ms`;
    this.#rows.get(JSON.stringify([group, name])).set(engine, text);
  }

  toString() {
    const engines = [...this.#engines.keys()];
    const lines = [["about", "fault", ...this.#engines.values()], Array(engines.length + 2).fill("---")];
    for (const [key, row] of this.#rows) {
      lines.push([...JSON.parse(key), ...engines.map((engine) => row.get(engine) ?? "not run")]);
    }
    return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  }
}
