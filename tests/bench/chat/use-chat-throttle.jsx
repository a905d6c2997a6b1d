// The same with `useChat`'s own throttle.
import { pageWith } from "./use-chat.jsx";

export const open = pageWith({ throttle: 50, experimental_throttle: 50 });
