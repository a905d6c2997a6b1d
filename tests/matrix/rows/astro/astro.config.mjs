export default { vite: { build: { assetsInlineLimit: 0 } }, telemetry: false };
