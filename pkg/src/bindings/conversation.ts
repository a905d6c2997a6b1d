// What bindings need from a conversation: its changing parts, under the names that the bindings' functions follow, and a way to
// show it. The types of the parts are the conversation's own.
import type { Readable } from "../common/readable.js";

/** Something to show, such as a conversation, which then loads and updates itself. */
export interface Attachable {
  /** Notes that a component shows it. Returns the function that ends this. */
  attach(): () => void;
}

/** An object with a part of this name. */
export type Part<Name extends string, T> = { readonly [own in Name]: Readable<T> };

/** An object with parts of this name, by their keys. It returns the same part for the same key. */
export type Parts<Name extends string, T> = { readonly [own in Name]: (key: string) => Readable<T> };
