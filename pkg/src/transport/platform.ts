// Replacements that a page may supply for parts of its platform.

/** A bearer token, or a function that returns it. */
export type Token = string | (() => string | null | undefined | Promise<string | null | undefined>);

/** A replacement for the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The part of the platform's `WebSocket` that turnwire uses. */
export type Socket = Pick<WebSocket, "send" | "close" | "addEventListener" | "readyState" | "bufferedAmount">;

/** Opens a connection in place of the platform's `WebSocket`, for instance with headers. */
export type OpenSocket = (url: string, protocols?: string[]) => Socket;

/** A `WebAssembly.Module`; any object for compilers that do not know it. */
export type WasmModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } } ? Module : object;
