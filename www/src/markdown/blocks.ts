// The vocabulary of the incremental markdown view: a message is a list of blocks, finished ones and an open tail.

/** Markdown that stands alone: a paragraph, a list, a table, … */
export interface MarkdownBlock {
  readonly kind: "markdown";
  readonly key: number;
  readonly text: string;
}

/**
 * Lines of a fenced code block. A short block is one piece. A long one comes in several, so that neither its growth nor
 * its layout costs more than one piece.
 */
export interface CodeBlock {
  readonly kind: "code";
  readonly key: number;
  readonly text: string;
  /** The info string of the fence, such as `ts`; empty if there was none. */
  readonly language: string;
  /** The same for all pieces of one fenced block. */
  readonly fence: number;
  readonly first: boolean;
  readonly last: boolean;
}

export type Block = MarkdownBlock | CodeBlock;

/** A block that is ready to show; `html` is sanitized. Code is shown as text and has no HTML. */
export type RenderedBlock = (MarkdownBlock & { readonly html: string }) | CodeBlock;
