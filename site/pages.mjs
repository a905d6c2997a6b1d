// The pages of the site, in the order of its sidebar.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

export const REPOSITORY = "https://github.com/turnwire/turnwire";

const guides = ["first-turn", "rendering", "frameworks", "conversation", "starters", "assistant-ui", "use-chat", "approvals", "tools", "sub-agents", "reload", "errors", "protocols", "bundlers", "testing", "rust", "moving"];

/** The groups of the sidebar: documents by their paths. */
export const GROUPS = {
  Guides: guides.map((name) => `docs/guides/${name}.md`),
  Reference: ["docs/api.md", "docs/options.md", "docs/errors.md", "docs/resume.md", "docs/tools.md", "docs/relay.md"],
  Protocols: ["docs/protocols.md", "docs/truefoundry.md", "docs/trueforge.md", "docs/agent-event.md", "docs/aap.md", "docs/turn-rpc.md", "docs/ag-ui.md"],
  Package: ["docs/bundlers.md", "docs/pages.md", "docs/bench.md", "docs/engines.md", "docs/versions.md", "SECURITY.md", "CHANGELOG.md", "LICENSES.md"],
  Inside: ["docs/architecture.md"],
};

/** All pages. */
export const PAGES = ["README.md", ...Object.values(GROUPS).flat()];

const written = ["docs", "docs/guides"].flatMap((folder) => readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`));
const missing = written.filter((name) => !PAGES.includes(name));
if (missing.length > 0) throw new Error(`these documents are in no group of the site: ${missing}`);

/** The title of a page. */
export function titleOf(name) {
  return /^# (.+)$/m.exec(readFileSync(join(ROOT, name), "utf8"))[1];
}
