// Sections that stand side by side on the site. In a document they are headings, each with its files:
//   <!-- tabs: begin -->, then `## Title`, then a file's name in backticks and its block of code, …, <!-- tabs: end -->
const GROUP = /^<!-- tabs: begin -->\n([^]*?)^<!-- tabs: end -->$/gm;
const PART = /^## (?<title>.+)$|^`(?<file>[^`\n]+)`\n\n```(?<language>\w+).*\n(?<code>[^]*?)^```$/gm;

/** Makes a group of VitePress of each. What is no heading, no name and no block is an error. */
export function withTabs(text) {
  return text.replaceAll(GROUP, (_, sections) => {
    const rest = sections.replaceAll(PART, "").trim();
    if (rest !== "") throw new Error(`this is in no tab: ${rest}`);
    let title = "";
    const tabs = [...sections.matchAll(PART)].flatMap(({ groups: { title: next, file, language, code } }) => {
      if (next === undefined) return [`\`\`\`${language} [${title}: ${file}]\n${code}\`\`\`\n`];
      title = next;
      return [];
    });
    return `::: code-group\n\n${tabs.join("\n")}\n:::`;
  });
}
