// The vocabulary of the incremental markdown view: a message is a row of blocks, finished ones and an open tail.

/** Markdown that stands alone: a paragraph, a list, a table, … */
export interface MarkdownBlock {
  readonly kind: "markdown";
  readonly key: number;
  readonly text: string;
}

/**
 * A run of lines of a fenced code block. Short blocks are one piece; a long one comes in several, so that neither its
 * growth nor its layout ever costs more than one piece.
 */
export interface CodeBlock {
  readonly kind: "code";
  readonly key: number;
  readonly text: string;
  /** The info string of the fence, such as `ts`; empty when there was none. */
  readonly language: string;
  /** The same for all pieces of one fenced block. */
  readonly fence: number;
  readonly first: boolean;
  readonly last: boolean;
}

export type Block = MarkdownBlock | CodeBlock;

/** A block that is ready to be shown; `html` is sanitised. Code is shown as text and has no HTML. */
export type RenderedBlock = (MarkdownBlock & { readonly html: string }) | CodeBlock;
