// Prints the bytes of each part of the package: raw, gzip, brotli, the last two at the highest
// levels, as web servers send them. An argument is one part: its files, joined by commas.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

for (const part of process.argv.slice(2)) {
  const bytes = Buffer.concat(part.split(",").map((file) => readFileSync(file)));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  const sizes = [bytes, gzipSync(bytes, { level: 9 }), brotliCompressSync(bytes, { params })];
  console.log(sizes.map((form) => form.length).join(" "));
}
