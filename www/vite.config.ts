// How the demo page is built: one static folder that any web server can serve, at any path.
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import families from "../pkg/families.json" with { type: "json" };

/**
 * The page shows text that a model wrote, so the browser is told to run nothing but the page's own scripts, even if
 * the sanitiser ever let something through. Built pages only: the development server injects inline scripts.
 */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "connect-src http: https: ws: wss:",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Where `cargo run -p turnwire-gateway` listens by default; `npm run dev` talks to it. */
const GATEWAY = "http://127.0.0.1:8790";
/** The gateway's protocols that have a path of their own. */
const PATHS = Object.values(families).flatMap(({ demo }) => Object.values(demo).flatMap(({ path }) => path || []));

function contentSecurityPolicy(): Plugin {
  return {
    name: "content-security-policy",
    apply: "build",
    transformIndexHtml: () => [
      { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
    ],
  };
}

export default defineConfig({
  base: "./",
  plugins: [react(), contentSecurityPolicy()],
  // The package is linked: its hooks take the page's React, and none from where it lies.
  resolve: { dedupe: ["react"] },
  build: {
    target: "es2022",
    sourcemap: true,
    rolldownOptions: {
      output: {
        // What seldom changes apart from what often does, and fetched side by side.
        codeSplitting: {
          groups: [
            { name: "turnwire", test: /[\\/]pkg[\\/]dist[\\/](?:index|face|conversation|react)\.js$/ },
            { name: "libraries", test: /[\\/]node_modules[\\/]/ },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      ...Object.fromEntries([...PATHS, "/api", "/_gateway"].map((path) => [path, { target: GATEWAY, ws: true }])),
    },
  },
});
