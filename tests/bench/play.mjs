// Runs inside of a page: streams of a real server are shown as they come, and the page's frames are watched.

const frames = [];

/** Begins to show so many streams at once, one of each address in turn. Does not wait for their end. */
export async function play({ candidate, protocol, consumer, addresses, count }, modules) {
  const { url, packageUrl } = modules[candidate];
  const { prepare } = await import(url);
  const fetch = (url, init) => globalThis.fetch(url, init);
  const ready = [];
  for (let at = 0; at < count; at += 1) {
    const baseUrl = addresses[at % addresses.length];
    const start = () => fetch(`${baseUrl}/v1/agents/sessions/s1/turns`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
    const server = await prepare({ protocol, packageUrl, fetch, start, baseUrl });
    ready.push(await server.ready());
  }
  // The page is closed in their midst.
  for (const { consume } of ready) consume(consumer).catch(() => {});
}

/** Forgets the frames so far. */
export function watchFrames() {
  if (frames.length === 0) requestAnimationFrame(note);
  frames.length = 0;
}

/** The milliseconds between frames since then. */
export function frameTimes() {
  return frames.slice(1).map((time, at) => time - frames[at]);
}

function note(time) {
  frames.push(time);
  requestAnimationFrame(note);
}
