// The input or output of a tool, in a frame that scrolls.

import { memo } from "react";
import { JsonPrinter, PRINT_LIMIT } from "./prettyJson";

interface Props {
  caption: string;
  /** JSON is formatted; anything else is shown unchanged. */
  content: string;
  /** How much the caller has already left out; then the content is shown unchanged. */
  hidden?: number;
}

export const DataView = memo(function DataView({ caption, content, hidden }: Props) {
  const { text, left } = hidden === undefined ? printed(content) : { text: content, left: hidden };
  return (
    <figure className="data">
      <figcaption>{caption}</figcaption>
      <pre tabIndex={0}>{text}</pre>
      {left > 0 && <p className="faint">… and about {left.toLocaleString()} more characters</p>}
    </figure>
  );
});

function printed(content: string): { text: string; left: number } {
  if (!/^\s*[[{]/.test(content)) return { text: content.slice(0, PRINT_LIMIT), left: content.length - PRINT_LIMIT };
  const printer = new JsonPrinter();
  return { text: printer.print(content), left: printer.hidden };
}
