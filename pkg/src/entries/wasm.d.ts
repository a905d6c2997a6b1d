// The value of an imported wasm file in a bundle for Workers.
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
