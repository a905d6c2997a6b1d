// The output of a running call. Its last lines stay visible, unless the reader has scrolled up.

import { useLayoutEffect, useRef } from "react";

/** Closer to the end than this counts as at the end, in CSS pixels. */
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
