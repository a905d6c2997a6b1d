// How a tool is declared.

/** A tool, as it is declared to agents and people. */
export interface ToolSpec {
  /** Its name, unique among the tools of a session. */
  readonly name: string;
  /** Its name for people. */
  readonly title?: string;
  /** What it does, for the agent. */
  readonly description: string;
  /** A JSON Schema of its input, which is an object. */
  readonly parameters: object;
}
