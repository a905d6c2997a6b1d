// Files in a message: read in the page and sent inside the message as `data:` URIs.

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

/** Reads the file; rejects with a message for the reader if it is too large or cannot be read. */
export async function readAttachment(file: File): Promise<Attachment> {
  if (file.size > LIMIT) throw new Error(`${file.name} is larger than ${formatSize(LIMIT)}.`);
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ name: file.name, size: file.size, data: String(reader.result) });
    reader.onerror = () => reject(new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
}

/** Whether a file has an accepted type, in the form of `accept`: all, or those with a prefix. */
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

/** The contents of a user's message. Servers spell a file in one of three ways. */
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

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
