// Keeps a scroller at its end while its content grows, until the reader scrolls up.
//
// The position is written in a ResizeObserver, after layout and before paint, so nothing forces a layout. It is read
// only in scroll events, where layout is already known.

import { useCallback, useEffect, useRef, useState, type RefObject } from "react";

/** Closer to the end than this counts as at the end, in CSS pixels. */
const NEAR = 60;
/** Beyond any real height; the browser corrects it. */
const END = 1e9;
/** A scroll that begins within this time after a key or a press on the scrollbar is the reader's, in milliseconds. */
const INTENT_MS = 400;

export interface Stick {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** The reader is at the end. */
  readonly atEnd: boolean;
  readonly toEnd: () => void;
}

/** If `enabled` is false, the scroller stays where it is, for content that is read from its top. */
export function useStickToBottom(enabled = true): Stick {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticking = useRef(true);
  const [atEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    sticking.current = true;
    setAtEnd(true);
    scroller.current?.scrollTo({ top: END, behavior: "instant" });
  }, []);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner || !enabled) return;
    const observer = new ResizeObserver(() => {
      if (sticking.current) box.scrollTop = END;
    });
    observer.observe(inner);
    observer.observe(box);

    let leftAt = -Infinity;
    const leave = () => {
      if (box.scrollHeight <= box.clientHeight) return;
      leftAt = performance.now();
      sticking.current = false;
      setAtEnd(false);
    };
    const intent = watchIntent(box, leave);
    let top = box.scrollTop;
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = box;
      // Shrinking content lowers the position, too: only the reader's own scrolling counts. It counts from the first
      // pixel, since a smooth scroll begins with one.
      if (scrollTop < top && intent.isRecent()) sticking.current = false;
      else if (scrollTop > top && scrollHeight - scrollTop - clientHeight < NEAR) {
        // The last written position may be reported after the reader has begun to leave it.
        if (performance.now() - leftAt > INTENT_MS) sticking.current = true;
      }
      top = scrollTop;
      setAtEnd(sticking.current);
    };
    box.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      intent.stop();
      box.removeEventListener("scroll", onScroll);
    };
  }, [enabled]);

  return { scroller, content, atEnd, toEnd };
}

interface Intent {
  isRecent(): boolean;
  stop(): void;
}

const UPWARD_KEYS = new Set(["ArrowUp", "PageUp", "Home", "Tab", " "]);

/**
 * Detects the reader's actions that scroll up. Wheel and touch scroll in another thread, and their events may come
 * after their scroll was overwritten, so they call `leave` themselves.
 */
function watchIntent(box: HTMLElement, leave: () => void): Intent {
  let last = -Infinity;
  let finger = 0;
  const note = () => {
    last = performance.now();
  };
  const stop = new AbortController();
  const options = { passive: true, signal: stop.signal };
  box.addEventListener("wheel", (event) => event.deltaY < 0 && leave(), options);
  box.addEventListener("touchstart", (event) => (finger = event.touches[0]?.clientY ?? 0), options);
  box.addEventListener("touchmove", (event) => (event.touches[0]?.clientY ?? 0) > finger && leave(), options);
  // A press on the scrollbar is a press on the box itself.
  box.addEventListener("pointerdown", (event) => event.target === box && note(), options);
  document.addEventListener("keydown", (event) => UPWARD_KEYS.has(event.key) && !isTyping(event) && note(), options);
  return { isRecent: () => performance.now() - last < INTENT_MS, stop: () => stop.abort() };
}

function isTyping({ key, target }: KeyboardEvent): boolean {
  return key !== "Tab" && (target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement);
}
