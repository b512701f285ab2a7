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

/** Programs that print lines of their input unchanged. grep does too, but with separators that may be any text. */
const LINE_FILTERS = new Set(["head", "sort", "tail", "uniq"]);

/**
 * Calls that print only the numbers of some processes, one word per line. Other calls could print all numbers (`pgrep .`, `lsof
 * -t`), or arbitrary text (`pgrep -d`).
 */
const NUMBER_LISTERS = [
  /^lsof(?=[^]*\n-[inP]*t)(?:\n-[nPt]+)*\n-[nPt]*i(?:TCP|UDP)?\n?:\d+(?:\n-[nPt]+|\n-sTCP:LISTEN)*$/,
  /^pgrep(?:\n-[finox]+)*\n(?!-)(?=[^\n]{0,80}?\w{3})[\w ./:@-]{3,200}$/,
  /^pidof(?:\n-[sx])*\n(?!-)[\w.-]{3,}$/,
];

/** The output of a command: names of files below the current folder, process numbers, or only its input. */
export type Output = "names" | "numbers" | "nothing" | "anything";

export function outputOf(call: ParsedCall, isPiped: boolean): Output {
  const [name = ""] = call.path;
  const text = call.normalized.map((word) => word.text ?? "").join("\n");
  if (NUMBER_LISTERS.some((pattern) => pattern.test(text))) return "numbers";
  const words = [...call.normalized, ...call.operands, ...[...call.options.values()].flat()];
  if (!words.every((word) => word.text !== undefined && !/^[/~]|=[/~]|(?:^|\/)\.\.(?:\/|$)/.test(word.text)))
    return "anything";
  if (isPiped && name === "grep") return call.operands.length <= 1 ? "names" : "anything";
  if (isPiped && LINE_FILTERS.has(name)) return call.operands.length === 0 ? "nothing" : "anything";
  return LISTERS.get(name)?.(call) === true ? "names" : "anything";
}
