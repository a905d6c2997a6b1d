// Makes a core's module of its text: `crates/packing` has the form of the text, and the module that reads it.
import { unpacker } from "../../core/unpacker.js";

/** What the module that unpacks exports. */
interface Unpacker {
  readonly memory: WebAssembly.Memory;
  /** Where the text goes. */
  text(): number;
  /** Makes a module of the text, and returns its length. */
  unpack(): number;
  /** Where that module is. */
  module(): number;
}

/** Returns the module's bytes. */
export function unpack(packed: string): Uint8Array<ArrayBuffer> {
  const code = Uint8Array.from(unpacker.match(/../g)!, (digits) => parseInt(digits, 16));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code));
  const { memory, text, unpack, module } = exports as unknown as Unpacker;
  new TextEncoder().encodeInto(packed, new Uint8Array(memory.buffer, text()));
  const length = unpack();
  return new Uint8Array(memory.buffer as ArrayBuffer, module(), length);
}
