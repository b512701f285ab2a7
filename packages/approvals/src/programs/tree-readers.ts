import type { ParsedCall } from "./declaration/parsed-call.ts";

/** Which files below a folder a call reads. `visible`: all but hidden ones. */
export type TreeReading = "all" | "visible" | "none";

const withOption =
  (...names: readonly string[]) =>
  ({ hasOption }: ParsedCall): TreeReading =>
    names.some(hasOption) ? "all" : "none";

/** Programs that read what is in folders, not only their names. */
const TREE_READERS = new Map<string, (call: ParsedCall) => TreeReading>([
  ["ag", ({ hasOption }) => (["--hidden", "-u", "-a"].some(hasOption) ? "all" : "visible")],
  ["cp", withOption("-R", "-a")],
  ["diff", withOption("-r")],
  ["grep", withOption("-r", "-R")],
  ["rg", ({ hasOption }) => (["--hidden", "-u"].some(hasOption) ? "all" : "visible")],
  ["rsync", () => "all"],
  ["tar", withOption("-c", "-r", "-u")],
  ["zip", withOption("-r")],
]);

export function treeReadingOf(call: ParsedCall): TreeReading {
  return TREE_READERS.get(call.path[0] ?? "")?.(call) ?? "none";
}
