import type { ParsedCall } from "./declaration/parsed-call.ts";

/** Programs that print names of files below the folders that they are given. */
const LISTERS = new Map<string, (call: ParsedCall) => boolean>([
  ["fd", () => true],
  [
    "find",
    ({ operands }) => !operands.some(({ text = "" }) => /^-(?:printf|fprint|exec|ok|follow)/.test(text)),
  ],
  [
    "git",
    ({ path, hasOption }) => path[1] === "ls-files" || (path[1] === "diff" && hasOption("--name-only")),
  ],
  ["grep", ({ hasOption }) => hasOption("-l")],
  // The long format prints the targets of links.
  ["ls", ({ hasOption }) => !["-l", "-g", "-n", "-o"].some(hasOption)],
  ["rg", ({ hasOption }) => hasOption("-l") || hasOption("--files")],
]);

/** Programs that print lines of their input as they are. */
const LINE_FILTERS = new Set(["grep", "head", "sort", "tail", "uniq"]);

/** Whether a call prints nothing but names of files below the current folder, or lines that it reads from a pipe. */
export function printsNames(call: ParsedCall, isPiped: boolean): boolean {
  const [name = ""] = call.path;
  const words = [...call.normalized, ...call.operands, ...[...call.options.values()].flat()];
  if (!words.every(({ text }) => text !== undefined && !/^[/~]|=[/~]|(?:^|\/)\.\.(?:\/|$)/.test(text)))
    return false;
  if (isPiped && LINE_FILTERS.has(name)) return call.operands.length <= (name === "grep" ? 1 : 0);
  return LISTERS.get(name)?.(call) === true;
}
