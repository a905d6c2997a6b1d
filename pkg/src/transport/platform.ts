// What a page may bring in place of what its platform has.

/** A bearer token, or what gives it. */
export type Token = string | (() => string | null | undefined | Promise<string | null | undefined>);

/** Instead of the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What the platform's `WebSocket` is needed for. */
export type Socket = Pick<WebSocket, "send" | "close" | "addEventListener" | "readyState" | "bufferedAmount">;

/** Makes a connection, instead of the platform's `WebSocket`; where requests can have headers, with those. */
export type OpenSocket = (url: string) => Socket;
