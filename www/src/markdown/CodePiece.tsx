// A fenced code block, or one piece of a long one. The pieces of a block join without a seam.

import { memo, useState, type MouseEvent } from "react";
import { Icon } from "../ui/Icon";
import type { CodeBlock } from "./blocks";

interface Props {
  block: CodeBlock;
  /** More may still come. */
  open?: boolean;
}

export const CodePiece = memo(function CodePiece({ block, open = false }: Props) {
  const { first, last } = block;
  // An incomplete closing fence is not code.
  const text = open ? block.text.replace(/\n?[ \t]*[`~]{1,4}$/, "") : block.text;
  const place = `${first ? " first" : ""}${last || open ? " last" : ""}`;
  return (
    <div className={`code-piece${place}`} data-fence={block.fence}>
      {first && (
        <div className="code-head">
          <span>{block.language || "text"}</span>
          <CopyCode fence={block.fence} />
        </div>
      )}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
});

function CopyCode({ fence }: { fence: number }) {
  const [copied, setCopied] = useState(false);
  const copy = async (event: MouseEvent<HTMLButtonElement>) => {
    // Read the text from the page on demand: keeping it joined would cost a copy of it per piece.
    const pieces = event.currentTarget.closest(".markdown")?.querySelectorAll(`[data-fence="${fence}"] code`) ?? [];
    await navigator.clipboard.writeText(Array.from(pieces, (piece) => piece.textContent ?? "").join(""));
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" className="quiet small" onClick={copy} aria-label="Copy code">
      <Icon name={copied ? "check" : "copy"} /> {copied ? "Copied" : "Copy"}
    </button>
  );
}
