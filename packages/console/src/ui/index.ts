// Small parts that all features share.
export { announce, announcement } from "./announce.ts";
export { formatBytes, formatCount, formatDuration } from "./format.ts";
export { visibleText } from "./visible-text.ts";
