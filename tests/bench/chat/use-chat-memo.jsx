// The same with rows that render only when their text changes.
import { KeptText } from "./shell.jsx";
import { pageWith } from "./use-chat.jsx";

export const open = pageWith({}, KeptText);
