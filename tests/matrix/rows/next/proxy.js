// A strict policy for the chat's page. Next.js reads the nonce for its own scripts from the request.
import { NextResponse } from "next/server";

export const config = { matcher: "/chat/:path*" };

export function proxy(request) {
  const policy = `script-src 'self' 'nonce-${btoa(crypto.randomUUID())}' 'strict-dynamic' 'wasm-unsafe-eval'; object-src 'none'; base-uri 'none'`;
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set("content-security-policy", policy);
  return response;
}
