// The development server has the policy that the built page has.
export default {
  server: { headers: { "content-security-policy": "script-src 'self' 'wasm-unsafe-eval'; require-trusted-types-for 'script'" } },
};
