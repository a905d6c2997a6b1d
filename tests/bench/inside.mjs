// What runs inside of an engine, by name.
export { answered, goElsewhere, openChat, sendMessage, takeLongTasks } from "./chat.mjs";
export { begin } from "./begin.mjs";
export { converse } from "./converse.mjs";
export { grow } from "./grow.mjs";
export { drop, hold, prepareToHold, wasmBytes } from "./hold.mjs";
export { spansOf, takeMarks } from "./marks.mjs";
export { measure } from "./measure.mjs";
export { frameTimes, play, watchFrames } from "./play.mjs";
