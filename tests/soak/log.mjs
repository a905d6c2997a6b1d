// A turn's log as the gateway keeps it: server-sent events, numbered from 1.

/** The log's events with their numbers. */
export function parseLog(text) {
  return text
    .split("\n\n")
    .filter((frame) => frame.includes("data:"))
    .map((frame) => {
      const field = (name) => frame.split("\n").find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1).trim();
      return { number: Number(field("id")), event: JSON.parse(field("data")) };
    });
}
