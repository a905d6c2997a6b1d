// Shows a growing markdown text. Finished blocks never render again; only the open tail does.

import { memo, useEffect, useState, type CSSProperties } from "react";
import { useReadable } from "turnwire/react";
import type { Block, RenderedBlock } from "./blocks";
import { closeOpenMarks } from "./closeOpenMarks";
import { CodePiece } from "./CodePiece";
import { MarkdownFeed, type Chunk } from "./MarkdownFeed";
import { renderBlock } from "./renderBlock";

interface Props {
  text: string;
  /** The text is complete. */
  ended: boolean;
}

export const Markdown = memo(function Markdown({ text, ended }: Props) {
  const [feed] = useState(() => new MarkdownFeed(text, ended));
  useEffect(() => feed.set(text, ended), [feed, text, ended]);
  useEffect(() => {
    feed.resume();
    return () => feed.pause();
  }, [feed]);
  const { chunks, tail } = useReadable(feed.view);

  return (
    <div className="markdown">
      {chunks.map((chunk) => (
        <ChunkView key={chunk.key} chunk={chunk} />
      ))}
      {tail && <TailView block={tail} />}
    </div>
  );
});

const ChunkView = memo(function ChunkView({ chunk }: { chunk: Chunk }) {
  // A sealed chunk that is out of sight needs no layout and no paint; until it was visible its height is estimated.
  const style: CSSProperties | undefined = chunk.sealed
    ? { contentVisibility: "auto", containIntrinsicBlockSize: `auto ${estimatedHeight(chunk)}px` }
    : undefined;
  return (
    <div className="chunk" style={style}>
      {chunk.blocks.map((block) => (
        <BlockView key={block.key} block={block} />
      ))}
    </div>
  );
});

/** About 85 characters per line of 27 px, and a gap for every block. */
function estimatedHeight(chunk: Chunk): number {
  return Math.round((chunk.length / 85) * 27 + chunk.blocks.length * 24);
}

const BlockView = memo(function BlockView({ block }: { block: RenderedBlock }) {
  if (block.kind === "code") return <CodePiece block={block} />;
  return <div className="block" dangerouslySetInnerHTML={{ __html: block.html }} />;
});

const TailView = memo(function TailView({ block }: { block: Block }) {
  if (block.kind === "code") return <CodePiece block={block} open />;
  return <div className="block" dangerouslySetInnerHTML={{ __html: renderBlock(closeOpenMarks(block.text)) }} />;
});
