/** The extension of programs that this package starts by their path: `ts` from source, `js` when installed. */
export const PROGRAM_EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";
