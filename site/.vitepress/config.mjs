// The site's settings: its pages, its sidebar, and where the sources are.
import { defineConfig } from "vitepress";
import { GROUPS, REPOSITORY, titleOf } from "../pages.mjs";

const link = (name) => `/${name.replace(/\.md$/, "")}`;
const groups = Object.entries(GROUPS).map(([text, names]) => ({ text, items: names.map((name) => ({ text: titleOf(name), link: link(name) })) }));
groups.find(({ text }) => text === "Reference").items.push({ text: "All types", link: "/reference/" });

export default defineConfig({
  title: "turnwire",
  description: "Stream the turns of AI agents into web pages",
  srcDir: "pages",
  cleanUrls: true,
  lastUpdated: false,
  // Pages may be served below any path.
  base: process.env.SITE_BASE ?? "/",
  // The demo is a separate application, and not a page.
  ignoreDeadLinks: [/^\/demo\//],
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Guides", link: "/docs/guides/first-turn" },
      { text: "Reference", link: "/docs/api" },
      { text: "Demo", link: "/demo/index.html", target: "_blank" },
    ],
    sidebar: groups,
    socialLinks: [{ icon: "github", link: REPOSITORY }],
  },
});
