import type { Command, ParsedScript, Word } from "unbash";
import type { Scope } from "./scope.ts";
import { derivedValue, isUnknown, type Value } from "./value.ts";

/** What a substitution prints, for the few commands whose output is plain to see. Everything else is unknown. */
export function knownOutput(
  script: ParsedScript | undefined,
  scope: Scope,
  expand: (word: Word, scope: Scope) => Value[],
): Value | undefined {
  if (script === undefined || script.errors !== undefined || script.commands.length !== 1) return undefined;
  const command = script.commands[0]?.command;
  if (command?.type !== "Command" || command.prefix.length > 0 || command.redirects.length > 0)
    return undefined;
  const words = commandWords(command, (word) => expand(word, scope));
  const text = printed(words, scope);
  return text === undefined ? undefined : derivedValue(text);
}

function commandWords(command: Command, expand: (word: Word) => Value[]): Value[] {
  if (command.name === undefined) return [];
  return [command.name, ...command.args].flatMap((word) => (word.type === "Word" ? expand(word) : []));
}

function printed(words: readonly Value[], scope: Scope): string | undefined {
  const [name, ...args] = words;
  switch (name?.text) {
    case "pwd":
      return scope.cwd();
    case "mktemp":
      return args.every(({ text }) => text.startsWith("-") && !text.startsWith("-p") && !text.includes("="))
        ? "/tmp/mktemp"
        : undefined;
    case "nproc":
    case "date":
    case "whoami":
    case "uname":
      return "0";
    case "git":
      return args.map(({ text }) => text).join(" ") === "rev-parse --show-toplevel"
        ? scope.places.root
        : undefined;
    case "echo":
    case "printf":
      return printedText(name.text, args);
    default:
      return undefined;
  }
}

/** What `echo` or `printf` writes, when it is all in the command. Backslashes are decoded: a disguise is the likely reason. */
export function printedText(name: "echo" | "printf", args: readonly Value[]): string | undefined {
  if (args.some(isUnknown)) return undefined;
  const texts = args.map(({ text }) => text);
  if (name === "echo") {
    let raw = true;
    while (/^-[neE]+$/.test(texts[0] ?? "")) {
      const option = texts.shift() ?? "";
      if (option.includes("e")) raw = false;
    }
    return raw ? texts.join(" ") : decodeEscapes(texts.join(" "));
  }
  const [format = "", ...values] = texts;
  if (format.startsWith("-")) return undefined;
  if (/%[^%sbq]/.test(format)) return undefined;
  const rest = [...values];
  const fill = (): string =>
    format.replaceAll(/%([%sbq])/g, (_all, kind: string) => (kind === "%" ? "%" : (rest.shift() ?? "")));
  let text = fill();
  // The format is used again for what is left over; a format that takes nothing is used once.
  while (rest.length > 0 && /%[sbq]/.test(format)) text += fill();
  return decodeEscapes(text);
}

function decodeEscapes(text: string): string {
  return text.replaceAll(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([abefnrtv\\]))/g,
    (_all, hex?: string, unicode?: string, octal?: string, letter?: string) => {
      if (letter !== undefined) return ESCAPES[letter] ?? letter;
      const code =
        octal === undefined ? Number.parseInt(hex ?? unicode ?? "0", 16) : Number.parseInt(octal, 8);
      return String.fromCharCode(code);
    },
  );
}

const ESCAPES: Record<string, string> = {
  a: "\u0007",
  b: "\b",
  e: "\u001b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
