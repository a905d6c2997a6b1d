// Files of a page as parts of a message: read in the page, and sent inside the message as `data:` URIs.
import { InputError } from "../client/face.js";
import type { ContentPart } from "../wire/events.js";

/** Limits for files. */
export interface FileLimits {
  /** The most bytes of all files together; 20 MiB by default. Servers refuse bodies above about 30 MB, and base64 makes four bytes of three. */
  total?: number | undefined;
  /** The types that are taken, in the form of an input's `accept`, such as `"image/*,application/pdf"`; all by default. */
  types?: string | undefined;
}

const TOTAL = 20 * 1024 * 1024;

/**
 * Reads files as parts of a message: `conversation.send({ type: "user.message", content: await fileParts(input.files) })`.
 *
 * Rejects with an `InputError` that names the file if one is too large, has a type that is not taken, or cannot be read.
 */
export async function fileParts(files: Iterable<File>, { total = TOTAL, types = "" }: FileLimits = {}): Promise<ContentPart[]> {
  const list = [...files];
  let size = 0;
  for (const file of list) {
    if (!isTaken(file, types)) throw new InputError("invalid_input", `${file.name} is not one of the types ${types}`);
    size += file.size;
    if (size > total) throw new InputError("invalid_input", `with ${file.name} the files have more than ${total} bytes`);
  }
  return Promise.all(list.map(async (file): Promise<ContentPart> => ({ type: "file", name: file.name, data: await dataUri(file) })));
}

/** Whether a file has one of the types: a MIME type, `image/*`, or the end of a name such as `.pdf`. */
function isTaken({ name, type }: File, types: string): boolean {
  const accepted = types.split(",").map((one) => one.trim().toLowerCase()).filter((one) => one !== "");
  return accepted.length === 0 || accepted.some((one) => {
    if (one.startsWith(".")) return name.toLowerCase().endsWith(one);
    return one.endsWith("/*") ? type.startsWith(one.slice(0, -1)) : one === type;
  });
}

async function dataUri(file: File): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch (cause) {
    throw new InputError("invalid_input", `${file.name} could not be read`, { cause });
  }
  let binary = "";
  // The arguments of a call are on the stack.
  for (let at = 0; at < bytes.length; at += 1 << 13) binary += String.fromCharCode(...bytes.subarray(at, at + (1 << 13)));
  return `data:${file.type || "application/octet-stream"};base64,${btoa(binary)}`;
}
