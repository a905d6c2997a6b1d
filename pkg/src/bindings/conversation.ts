// What bindings need of a conversation: its parts that change, by the names that the bindings' functions follow, and that it
// can be shown. What the parts hold is the conversation's own.
import type { Readable } from "../common/readable.js";

/** What is shown by attaching to it, such as a conversation, which then loads and follows what happens. */
export interface Attachable {
  /** Says that a component shows it. Returns the function that ends this. */
  attach(): () => void;
}

/** An object with a part of this name. */
export type Part<Name extends string, T> = { readonly [own in Name]: Readable<T> };

/** An object with parts of this name, by their keys. It returns the same part for the same key. */
export type Parts<Name extends string, T> = { readonly [own in Name]: (key: string) => Readable<T> };
