// How a tool is declared.

/** The declaration of a tool, for agents and people. */
export interface ToolSpec {
  /** The name, unique among the tools of a session. */
  readonly name: string;
  /** The name for people. */
  readonly title?: string;
  /** What the tool does, for the agent. */
  readonly description: string;
  /** A JSON Schema of the input, which is an object. */
  readonly parameters: object;
}
