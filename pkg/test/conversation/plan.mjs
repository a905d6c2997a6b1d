// The plan of a conversation from its sources, with what tests read besides.
import { join } from "node:path";
import { build } from "esbuild";

const FOLDER = join(import.meta.dirname, "..", "..", "src", "conversation", "plan");
const CONTENTS = `
  export { createPlan, take } from "./plan.ts";
  export { newState } from "./state.ts";
  export { questionOf } from "./tree.ts";
  export { shown, viewOf } from "./view.ts";
`;

const { outputFiles } = await build({ stdin: { contents: CONTENTS, resolveDir: FOLDER }, bundle: true, write: false, format: "esm", platform: "neutral", target: "es2022" });
const source = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);

export const { createPlan } = source;

/** A plan whose state is open: all its turns can be seen, also those that are not shown. */
export class OpenPlan {
  constructor(options) {
    this.state = source.newState(options);
  }

  take(fact) {
    return source.take(this.state, fact);
  }

  view() {
    return source.viewOf(this.state);
  }

  /** All turns that are known, also those of other branches, in the server's order. */
  turns() {
    return this.state.turns.map((turn) => ({ ...source.shown(turn, []), end: turn.end }));
  }

  turn(key) {
    return this.turns().find((turn) => turn.key === key);
  }

  questionOf(key) {
    return source.questionOf(this.state.turns.find((turn) => turn.key === key))?.key ?? 0;
  }
}
