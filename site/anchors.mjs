// The anchors of the built site: each link to a heading leads to one that VitePress has written. VitePress checks only pages.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ID = /\sid="([^"]+)"/g;
const LINK = /\shref="([^"#]*)#([^"]+)"/g;
const ENTITIES = { amp: "&", quot: '"', lt: "<", gt: ">", "#39": "'" };

/** The links of a built site to anchors that no page has, each as `page: link`. `base` is the path that it is served below; it ends with a slash. */
export function deadAnchors(folder, base = "/") {
  const pages = new Map();
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!name.endsWith(".html") || name.startsWith("demo")) continue;
    const html = readFileSync(join(folder, name), "utf8");
    pages.set(addressOf(name), { ids: new Set([...html.matchAll(ID)].map(([, id]) => text(id))), html });
  }
  const dead = [];
  for (const [address, { html }] of pages) {
    for (const [, target, anchor] of html.matchAll(LINK)) {
      if (/^[a-z]+:|^\/\//.test(target)) continue;
      const { pathname } = new URL(text(target) || address, `http://site${address}`);
      const page = pages.get(target ? `/${pathname.slice(base.length)}` : address);
      if (!page?.ids.has(decodeURIComponent(text(anchor)))) dead.push(`${address}: ${target}#${anchor}`);
    }
  }
  return [...new Set(dead)];
}

/** A page's address as links have it: without its ending, and a folder for its index. */
function addressOf(name) {
  return `/${name.replace(/\.html$/, "").replace(/(^|\/)index$/, "$1")}`;
}

function text(attribute) {
  return attribute.replaceAll(/&(#39|\w+);/g, (entity, name) => ENTITIES[name] ?? entity);
}
