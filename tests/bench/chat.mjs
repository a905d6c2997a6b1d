// Runs inside of a page: a chat of a candidate's, as people use it.

let chat;
const longTasks = [];

/** Opens a chat. Returns whether it has shown all its messages in time. */
export async function openChat(url, options) {
  chat = await (await import(url)).open(options);
  new PerformanceObserver((list) => longTasks.push(...list.getEntries())).observe({ type: "longtask" });
  return chat !== undefined;
}

/** Sends a message; resolves when the answer has begun. */
export async function sendMessage() {
  chat.send();
  for (const end = performance.now() + 20_000; chat.text() === ""; await new Promise((resolve) => setTimeout(resolve, 10))) {
    if (performance.now() > end) throw new Error("nothing was answered");
  }
}

/** How many characters of the answer are there; throws if they are not those that were sent. */
export function answered() {
  const text = chat.text();
  if (!chat.expected.startsWith(text)) throw new Error(`another text was shown: ${JSON.stringify(text.slice(-80))}`);
  return text.length;
}

/** Goes to the page that renders for 200 ms; returns how many milliseconds that took. */
export async function goElsewhere() {
  const began = performance.now();
  await chat.go();
  return performance.now() - began;
}

/** The long tasks since the last call, in milliseconds. */
export const takeLongTasks = () => longTasks.splice(0).map(({ duration }) => duration);
