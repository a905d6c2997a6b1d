// What a built file needs of an engine: its syntax, the members and globals that it names, and the features of the
// WebAssembly modules. The versions come from MDN's compatibility data.
import { createRequire } from "node:module";
import { parse } from "acorn";
import { full } from "acorn-walk";

const data = createRequire(import.meta.url)("@mdn/browser-compat-data");

/** The engines, by MDN's names. */
export const ENGINES = ["chrome", "firefox", "safari"];

/** The interfaces of the platform that the package uses. A member of any other name is the package's own. */
const INTERFACES = [
  "AbortController", "AbortSignal", "Blob", "Crypto", "Document", "Headers", "MessageChannel", "MessagePort", "Navigator",
  "ReadableStream", "ReadableStreamDefaultReader", "Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams",
  "WebSocket",
];

/**
 * The features that the modules may use: binaryen's names, and MDN's. `mutable-globals` is older than MDN's list, and
 * `call-indirect-overlong` is the encoding of `reference-types`.
 */
export const WASM = {
  "bulk-memory": "bulk-memory-operations",
  "bulk-memory-opt": "bulk-memory-operations",
  "call-indirect-overlong": "reference-types",
  multivalue: "multi-value",
  "mutable-globals": undefined,
  "nontrapping-float-to-int": "non-trapping-float-to-int-conversions",
  "reference-types": "reference-types",
  "sign-ext": "sign-extension-operations",
};

/** The first version of an engine that has a feature; `undefined` if it has none, or always had it. */
function since(compat, engine) {
  const support = [compat.support[engine]].flat().find(({ flags, version_removed }) => !flags && !version_removed);
  const version = support?.version_added;
  return typeof version === "string" ? Number.parseFloat(version.replace("≤", "")) : version === true ? 0 : Infinity;
}

const versions = (compat) => ENGINES.map((engine) => since(compat, engine));

/** The members of JavaScript's own objects and of the used interfaces, each with the least that any of them needs. */
const MEMBERS = new Map();
const objects = [...Object.values(data.javascript.builtins), ...INTERFACES.map((name) => data.api[name])];
for (const object of objects) {
  for (const [name, { __compat: compat }] of Object.entries(object)) {
    if (name === "__compat" || !compat) continue;
    const own = versions(compat);
    const known = MEMBERS.get(name);
    MEMBERS.set(name, known ? own.map((version, at) => Math.min(version, known[at])) : own);
  }
}

/** The features of a script, each with the versions that have it: `Map<name, [chrome, firefox, safari]>`. */
export function used(source) {
  const tree = parse(source, { ecmaVersion: 2022, sourceType: "module" });
  const uses = new Map();
  full(tree, (node) => {
    if (node.type === "MemberExpression" && !node.computed && MEMBERS.has(node.property.name)) {
      uses.set(`.${node.property.name}`, MEMBERS.get(node.property.name));
    }
    if (node.type === "Identifier") {
      const compat = data.javascript.builtins[node.name]?.__compat ?? data.api[node.name]?.__compat;
      if (compat) uses.set(node.name, versions(compat));
    }
    const syntax = SYNTAX[node.type]?.(node);
    for (const [name, compat] of syntax || []) uses.set(name, versions(compat));
  });
  return uses;
}

const { classes, operators, statements } = data.javascript;

/** Syntax that is younger than modules, by the type of its node. */
const SYNTAX = {
  AssignmentExpression: ({ operator }) => operator === "??=" && [["??=", operators.nullish_coalescing_assignment.__compat]],
  ChainExpression: () => [["?.", operators.optional_chaining.__compat]],
  ForOfStatement: (node) => node.await && [["for await", statements.for_await_of.__compat]],
  LogicalExpression: ({ operator }) => operator === "??" && [["??", operators.nullish_coalescing.__compat]],
  MethodDefinition: ({ key }) => key.type === "PrivateIdentifier" && [["#method()", classes.private_class_methods.__compat]],
  PropertyDefinition: ({ key, static: isStatic }) => [
    key.type === "PrivateIdentifier" ? ["#field", classes.private_class_fields.__compat] : ["field", classes.public_class_fields.__compat],
    ...(isStatic ? [["static field", classes.static.class_fields.__compat]] : []),
  ],
  StaticBlock: () => [["static {}", classes.static.initialization_blocks.__compat]],
};

/** The features of WebAssembly, each with the versions that have it. */
export function wasmUses() {
  const names = Object.values(WASM).filter((name) => name !== undefined);
  return new Map(names.map((name) => [name, versions(data.webassembly[name].__compat)]));
}
