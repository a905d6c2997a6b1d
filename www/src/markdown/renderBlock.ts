// Converts one markdown block to safe HTML. Only here does text of a model become markup.

import DOMPurify from "dompurify";
import { Marked, type Tokens } from "marked";

/** The allowed elements. No forms, no media, no styles: nothing that loads, asks or covers the page. */
const ALLOWED_TAGS = [
  "a",
  "abbr",
  "b",
  "blockquote",
  "br",
  "code",
  "dd",
  "del",
  "details",
  "div",
  "dl",
  "dt",
  "em",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "hr",
  "i",
  "ins",
  "kbd",
  "li",
  "mark",
  "ol",
  "p",
  "pre",
  "q",
  "s",
  "small",
  "span",
  "strong",
  "sub",
  "summary",
  "sup",
  "table",
  "tbody",
  "td",
  "th",
  "thead",
  "tr",
  "u",
  "ul",
  "var",
];
/** Attributes whose values are not URLs. */
const PLAIN_ATTR = ["title", "align", "start", "colspan", "rowspan", "open", "data-task"];
const ALLOWED_ATTR = ["href", ...PLAIN_ATTR];
const SAFE_LINK = /^(?:https?:|mailto:|tel:)/i;

const marked = new Marked({
  gfm: true,
  renderer: {
    // An image would tell its server who reads this answer, so it is shown as a link.
    image({ href, text }: Tokens.Image): string {
      return `<a href="${escapeHtml(href)}">${escapeHtml(text || "image")}</a>`;
    },
    // A box that looks like a control but is not one.
    checkbox({ checked }: Tokens.Checkbox): string {
      return `<span data-task="${checked ? "done" : "open"}"></span> `;
    },
  },
});

const purifier = DOMPurify(window);
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  // A wide table scrolls on its own, also with the keyboard.
  if (node.tagName === "TABLE") node.setAttribute("tabindex", "0");
});

/** Parses and sanitizes one block. An ordinary one takes a few tenths of a millisecond: call it once and keep the result. */
export function renderBlock(text: string): string {
  return purifier.sanitize(marked.parse(text, { async: false }), {
    ALLOWED_TAGS,
    ALLOWED_ATTR,
    ADD_URI_SAFE_ATTR: PLAIN_ATTR,
    ALLOWED_URI_REGEXP: SAFE_LINK,
    ALLOW_DATA_ATTR: false,
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
