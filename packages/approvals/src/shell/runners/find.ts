import type { Inner, Unwrapper } from "../unwrap.ts";
import { derivedValue, UNKNOWN_VALUE, type Value } from "../value.ts";

const FIND_ACTIONS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

export const find: Unwrapper = (args) => {
  const inner: Inner[] = [];
  const starts = findStarts(args);
  const narrowed = args.some(({ text }) => /^-(?:i?name|i?path|i?regex|mtime|mmin|newer|empty)$/.test(text));
  const named = args.find((_, index) => /^-i?name$/.test(args[index - 1]?.text ?? ""))?.text ?? "";
  const below = narrowed ? `/${/^[\w.-]+$/.test(named) ? named : "found"}` : "/*";
  for (let at = 0; at < args.length; at += 1) {
    if (!FIND_ACTIONS.has(args[at]?.text ?? "")) continue;
    let end = at + 1;
    while (
      end < args.length &&
      args[end]?.text !== ";" &&
      !(args[end]?.text === "+" && args[end - 1]?.text === "{}")
    )
      end += 1;
    const words = args.slice(at + 1, end);
    // A file that is found lies below where the search starts: that is what the command is told to work on.
    const argv = words.flatMap((arg) => (arg.text.includes("{}") ? found(arg, starts, below) : [arg]));
    if (argv.length > 0) inner.push({ kind: "command", argv });
    // Not every find replaces `{}` inside a longer word: there it may be meant for a command further in.
    if (words.some(({ text }) => text.includes("{}") && text !== "{}"))
      inner.push({ kind: "command", argv: words });
    at = end;
  }
  return { transparent: false, inner };
};

/** The folders that `find` searches: the words before the first test. */
export function findStarts(args: readonly Value[]): readonly Value[] {
  const starts: Value[] = [];
  for (const arg of args) {
    if (/^-[HLPO]|^-D$/.test(arg.text)) continue;
    if (/^[-(!]/.test(arg.text)) break;
    starts.push(arg);
  }
  return starts.length === 0 ? [derivedValue(".")] : starts;
}

/** A search that is narrowed by a name finds something below the folder; any other may find everything in it. */
function found(arg: Value, starts: readonly Value[], below: string): Value[] {
  return starts.map(({ text }) => ({
    text: arg.text.replaceAll("{}", text.replace(/\/$/, "") + below),
    plain: false,
    glob: below === "/*",
    splits: false,
  }));
}

export const fd: Unwrapper = (args) => {
  const at = args.findIndex(({ text }) => /^(?:-x|-X|--exec|--exec-batch)$/.test(text));
  if (at === -1) return { transparent: false, inner: [] };
  const argv = args.slice(at + 1).map((arg) => (arg.text === "{}" ? UNKNOWN_VALUE : arg));
  return { transparent: false, inner: [{ kind: "command", argv: [...argv, UNKNOWN_VALUE] }] };
};
