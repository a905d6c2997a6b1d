// The documents that travel in the package: the repository's own, copied by the build. Links between them hold there as
// well; those to anything else lead to the repository.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const REPOSITORY = "https://github.com/turnwire/turnwire/blob/main";
const LINK = /(\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)/g;
/** The documents of contributors, and of those who run servers, stay in the repository. */
const OURS = ["docs/architecture.md", "docs/relay.md"];

/** Copies the documents from `root` into the package's folder. */
export function copyDocuments(root, folder) {
  rmSync(join(folder, "docs"), { recursive: true, force: true });
  const names = documents(root);
  for (const name of [...names, "LICENSE", "llms.txt"]) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, name === "llms.txt" ? withIndex(root, names) : linked(readFileSync(join(root, name), "utf8"), name, names));
  }
  cpSync(join(root, "docs", "bench.svg"), join(folder, "docs", "bench.svg"));
}

/** The documents by their paths. */
function documents(root) {
  const docs = readdirSync(join(root, "docs"), { recursive: true }).filter((name) => name.endsWith(".md")).sort();
  return ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSES.md", ...docs.map((name) => `docs/${name}`).filter((name) => !OURS.includes(name))];
}

/** A document whose links hold in the package. */
function linked(text, name, names) {
  return text.replace(LINK, (_, open, target, anchor = "") => {
    const path = normalize(join(dirname(name), target));
    const isHere = names.includes(path) || ["docs/bench.svg", "LICENSE"].includes(path);
    const raw = /\.(png|svg)$/.test(path) ? "?raw=true" : "";
    return `${open}${isHere ? target : `${REPOSITORY}/${path}${raw}`}${anchor})`;
  });
}

/** The index for language models, with the title of each document. */
function withIndex(root, names) {
  const rows = names.map((name) => `- [${/^# (.+)$/m.exec(readFileSync(join(root, name), "utf8"))?.[1] ?? name}](${name})`);
  return readFileSync(join(root, "llms.txt"), "utf8").replace("{{documents}}", rows.join("\n"));
}
