// The source maps of the package: what a debugger needs to show the source and the line of each place, and no more. Whole
// maps were a seventh of the package.
import { decode, encode } from "@jridgewell/sourcemap-codec";

/** What the declarations have as well: documentation and types. Lines keep their numbers. */
const DECLARED = [
  /^ *(?:\/\*\*[^]*?\*\/|\/\/.*)$/gm,
  /^(?:export )?interface [^]*?^\}$/gm,
  /^(?:import|export) type [^;]*;$/gm,
  /^type \w[^;]*;$/gm,
];

/** A source map with the sources of this project, but not the modules, which are in the package, nor what its types have. */
export function withSources(json) {
  const map = JSON.parse(json);
  map.sourcesContent = map.sourcesContent.map((text, at) => (map.sources[at].endsWith("/inline.js") ? null : undeclared(text)));
  return map;
}

/** A source map that tells lines apart, and neither columns nor names. */
export function byLine(json) {
  const { version, file, sources, sourcesContent, mappings } = JSON.parse(json);
  const lines = decode(mappings).map((segments) => {
    let last = [];
    return segments.flatMap(([column, source, line]) => {
      if (source === undefined || (source === last[0] && line === last[1])) return [];
      last = [source, line];
      return [[column, source, line, 0]];
    });
  });
  return JSON.stringify({ version, file, sources, sourcesContent, names: [], mappings: encode(lines) });
}

function undeclared(text) {
  return DECLARED.reduce((rest, pattern) => rest.replaceAll(pattern, (found) => found.replaceAll(/[^\n]/g, "")), text);
}
