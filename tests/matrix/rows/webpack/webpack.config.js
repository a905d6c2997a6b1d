// Chunks are loaded by script elements: where Trusted Types are required, webpack has to be told.
export default { mode: "production", entry: "./app/page.mjs", output: { trustedTypes: true }, performance: false };
