// The page of the rows with workers: starts the worker that the address names, and shows its answer.
const query = new URLSearchParams(location.search);
const what = { gateway: query.get("gateway"), protocols: query.get("protocols").split(",") };
const show = (result) => document.body.append(Object.assign(document.createElement("output"), { textContent: JSON.stringify(result) }));
const policy = globalThis.trustedTypes?.createPolicy("workers", { createScriptURL: (url) => url });
const script = policy?.createScriptURL("/worker.js") ?? "/worker.js";
const kinds = {
  dedicated() {
    const worker = new Worker(script, { type: "module" });
    worker.onmessage = ({ data }) => show(data);
    worker.onerror = (event) => show({ error: event.message });
    worker.postMessage(what);
  },
  shared() {
    const worker = new SharedWorker(script, { type: "module" });
    worker.port.onmessage = ({ data }) => show(data);
    worker.onerror = (event) => show({ error: event.message });
    worker.port.postMessage(what);
  },
  async service() {
    navigator.serviceWorker.addEventListener("message", ({ data }) => show(data));
    navigator.serviceWorker.startMessages();
    await navigator.serviceWorker.register(script, { type: "module" });
    (await navigator.serviceWorker.ready).active.postMessage(what);
  },
};
await kinds[query.get("kind")]();
