// Files in a message: inside it, as `data:` URIs.

import type { ContentPart, TurnInputItem } from "turnwire";

/** A file as it is shown. */
export interface Attachment {
  readonly name: string;
  /** A `data:` URI; empty for a file on the server. */
  readonly data: string;
}

/** Whether a file has an accepted type, in the form of `accept`: all, or those with a prefix. */
export function isTaken(accept: string, { type }: Pick<File, "type">): boolean {
  return accept === "" || type.startsWith(accept.replace(/\*$/, ""));
}

export function userMessage(text: string, files: readonly ContentPart[] = []): TurnInputItem {
  if (files.length === 0) return { type: "user.message", content: text };
  return { type: "user.message", content: [...(text ? [{ type: "text" as const, text }] : []), ...files] };
}

/** The parts of a message that are no text. */
export function filesIn(parts: readonly ContentPart[]): ContentPart[] {
  return parts.filter(({ type }) => type !== "text");
}

/** The parts of the messages in an input. */
export function partsIn(input: readonly TurnInputItem[]): ContentPart[] {
  return input.flatMap((item) => {
    if (item.type !== "user.message") return [];
    return typeof item.content === "string" ? [{ type: "text" as const, text: item.content }] : item.content;
  });
}

/** The text in parts. */
export function textIn(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** The contents of a user's message. Servers spell a file in one of three ways. */
export function contentsOf(parts: readonly ContentPart[]): { texts: string[]; files: Attachment[] } {
  const texts: string[] = [];
  const files: Attachment[] = [];
  for (const part of parts) {
    switch (part.type) {
      case "text":
        texts.push(part.text);
        break;
      case "file":
        files.push({ name: part.name || nameOf(part.data), data: part.data });
        break;
      case "file_upload":
        files.push({ name: part.file.filename, data: part.file.file_data });
        break;
      // The server does not keep the name.
      case "image":
      case "audio":
      case "video":
        files.push({ name: NAMES[part.type], data: part.url });
        break;
      // A file on the server.
      case "artifact":
        files.push({ name: part.artifactId, data: "" });
        break;
      default:
        files.push({ name: part.path, data: "" });
    }
  }
  return { texts, files };
}

const NAMES = { image: "Image", audio: "Sound", video: "Film" } as const;

/** A name for a file without one. */
function nameOf(data: string): string {
  const type = /^data:(\w+)\//.exec(data)?.[1] ?? "";
  return type in NAMES ? NAMES[type as keyof typeof NAMES] : "File";
}

/** The size of the content of a base64 `data:` URI in words, three bytes for four characters; empty for other addresses. */
export function sizeWords({ data }: Attachment): string {
  if (!data.startsWith("data:")) return "";
  const bytes = Math.floor(((data.length - data.indexOf(",") - 1) * 3) / 4);
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
