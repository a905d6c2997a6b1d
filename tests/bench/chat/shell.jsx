// What the chat pages of all candidates have in common: how a message looks, a page that is slow to render, and what is done.
import { marked } from "marked";
import { memo, startTransition, useLayoutEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { talked } from "../past.mjs";
import { talk } from "../stories.mjs";
import { textOf } from "../expected.mjs";

/** How many components the slow page has, and how long each takes to render, in milliseconds. */
const SLOW = [20, 10];
/** Rows that are not in view are not laid out: else the browser's own work hides all other in a list of thousands. */
const STYLE = "article { content-visibility: auto; contain-intrinsic-size: auto 80px }";
/** How long a page may take to show its messages, in milliseconds. */
const LIMIT = 25_000;

/** A message as all pages show it. Whenever it renders, its Markdown is read. */
export function Text({ role, text }) {
  return <article className={role} dangerouslySetInnerHTML={{ __html: marked.parse(text) }} />;
}

/** The same for pages that render a message again only if its text has changed. */
export const KeptText = memo(Text);

/**
 * Makes a page's `open(options)`. `prepare({ messages, story, rate, control })` returns the component of the chat, which sets
 * `control.send` and `control.text`: what sends a message, and the text of the newest one. A page that has not shown its messages in
 * time does not open.
 */
export function page(prepare) {
  return async ({ earlier, deltas, most, rate }) => {
    const control = {};
    const story = talk(deltas, most);
    const Chat = await prepare({ messages: talked(earlier), story, rate, control });
    document.head.appendChild(document.createElement("style")).textContent = STYLE;
    const root = document.body.appendChild(document.createElement("div"));
    Object.assign(root.style, { height: "600px", overflow: "auto" });
    createRoot(root).render(<Pages control={control}><Chat /></Pages>);
    for (const end = performance.now() + LIMIT; root.querySelectorAll("article").length < earlier || !control.send; await new Promise(requestAnimationFrame)) {
      if (performance.now() > end) return undefined;
    }
    return Object.assign(control, { expected: textOf(story) });
  };
}

/** The chat, and beside it a page that `control.go()` goes to, which resolves when it is there. */
function Pages({ control, children }) {
  const [page, setPage] = useState(0);
  control.go = () =>
    new Promise((resolve) => {
      control.arrived = resolve;
      startTransition(() => setPage((was) => was + 1));
    });
  return <>{children}{page > 0 && <Slow key={page} control={control} />}</>;
}

function Slow({ control }) {
  useLayoutEffect(() => control.arrived(), [control]);
  return Array.from({ length: SLOW[0] }, (_, at) => <Piece key={at} />);
}

function Piece() {
  for (const end = performance.now() + SLOW[1]; performance.now() < end; );
  return null;
}
