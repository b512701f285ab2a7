import type { ParsedCall } from "./declaration/parsed-call.ts";

/** Which files below a folder a call reads. */
export interface TreeReading {
  /** Whether hidden files are read like all other files. */
  readonly hasHidden: boolean;
  /** Patterns for names of hidden files that are always read. */
  readonly included: readonly string[];
}

const ALL: TreeReading = { hasHidden: true, included: [] };

const withOption =
  (...names: readonly string[]) =>
  ({ hasOption }: ParsedCall): TreeReading | undefined =>
    names.some(hasOption) ? ALL : undefined;

/** Hidden files are read only with one of the options. */
const visibleUnless =
  (...names: readonly string[]) =>
  ({ hasOption }: ParsedCall): TreeReading =>
    names.some(hasOption) ? ALL : { hasHidden: false, included: [] };

/** A pattern that includes files also includes hidden ones, whose dots its stars match. */
function readingOfRg(call: ParsedCall): TreeReading {
  const globs = ["-g", "--iglob"].flatMap((name) => call.options.get(name) ?? []);
  const included = globs.map(({ text = "*" }) => text.toLowerCase()).filter((glob) => !glob.startsWith("!"));
  return { ...visibleUnless("--hidden", "-u")(call), included };
}

/** Programs that read the contents of folders, not only names. */
const TREE_READERS = new Map<string, (call: ParsedCall) => TreeReading | undefined>([
  ["ag", visibleUnless("--hidden", "-u", "-a")],
  ["cp", withOption("-R", "-a")],
  ["diff", withOption("-r")],
  ["grep", withOption("-r", "-R")],
  ["rg", readingOfRg],
  ["rsync", () => ALL],
  ["tar", withOption("-c", "-r", "-u")],
  ["zip", withOption("-r")],
]);

/** Undefined if a call does not read the contents of folders. */
export function treeReadingOf(call: ParsedCall): TreeReading | undefined {
  return TREE_READERS.get(call.path[0] ?? "")?.(call);
}
