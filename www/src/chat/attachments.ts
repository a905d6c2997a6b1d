// Files that go along with a message: read in the page and sent inside it as `data:` URIs.

import type { TurnInputItem } from "turnwire";

export type UserMessage = Extract<TurnInputItem, { type: "user.message" }>;

export interface Attachment {
  readonly name: string;
  readonly size: number;
  /** A `data:` URI. */
  readonly data: string;
}

/** Gateways refuse bodies over 30 MB, and base64 makes four bytes of three. */
const LIMIT = 20 * 1024 * 1024;

/** Reads the file; rejects with a message for the reader when it is too large or can not be read. */
export async function readAttachment(file: File): Promise<Attachment> {
  if (file.size > LIMIT) throw new Error(`${file.name} is larger than ${formatSize(LIMIT)}.`);
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ name: file.name, size: file.size, data: String(reader.result) });
    reader.onerror = () => reject(new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
}

/** Whether a file is of the types that are taken, as `accept` has them: all, or those that begin so. */
export function isTaken(accept: string, { type }: Pick<File, "type">): boolean {
  return accept === "" || type.startsWith(accept.replace(/\*$/, ""));
}

export function userMessage(text: string, files: readonly Attachment[]): TurnInputItem {
  if (files.length === 0) return { type: "user.message", content: text };
  return {
    type: "user.message",
    content: [
      ...(text ? [{ type: "text" as const, text }] : []),
      ...files.map(({ name, data }) => ({ type: "file" as const, name, data })),
    ],
  };
}

/** What a user's message holds. Servers spell a file in one of three ways. */
export function contentsOf({ content }: UserMessage): { texts: string[]; files: Pick<Attachment, "name" | "data">[] } {
  if (typeof content === "string") return { texts: [content], files: [] };
  const texts: string[] = [];
  const files: Pick<Attachment, "name" | "data">[] = [];
  for (const part of content) {
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
      // The name is not kept.
      case "image":
      case "audio":
      case "video":
        files.push({ name: NAMES[part.type], data: part.url });
        break;
      // What lies at the server.
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

/** What to call a file whose name nobody has kept. */
function nameOf(data: string): string {
  const type = /^data:(\w+)\//.exec(data)?.[1] ?? "";
  return type in NAMES ? NAMES[type as keyof typeof NAMES] : "File";
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
