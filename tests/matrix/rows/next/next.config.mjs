// The folder is one of many in a tree.
export default { turbopack: { root: import.meta.dirname }, outputFileTracingRoot: import.meta.dirname };
