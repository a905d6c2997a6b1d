import adapter from "@sveltejs/adapter-static";
import { sveltekit } from "@sveltejs/kit/vite";

// The policy is for the chat's page: the prerendered one gets it as an element of its own.
const csp = { mode: "auto", directives: { "script-src": ["self", "wasm-unsafe-eval"] } };

export default { plugins: [sveltekit({ adapter: adapter({ pages: "dist", assets: "dist", strict: false }), csp })] };
