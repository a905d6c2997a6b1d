// What a call puts out while it runs: its last lines stay in sight, unless the reader has scrolled away from them.

import { useLayoutEffect, useRef } from "react";

/** So near is at the end, in CSS pixels. */
const NEAR = 24;

export function OutputView({ caption, text }: { caption: string; text: string }) {
  const frame = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [text]);
  const onScroll = () => {
    const element = frame.current;
    if (element) isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
  };
  return (
    <figure className="data live">
      <figcaption>{caption}</figcaption>
      <pre ref={frame} tabIndex={0} onScroll={onScroll}>
        {text}
      </pre>
    </figure>
  );
}
