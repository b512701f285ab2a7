import type { Invocation } from "./invocation.ts";
import { readOptions } from "./options.ts";
import type { Scope } from "./scope.ts";
import { derivedValue, UNKNOWN_VALUE, type Value } from "./value.ts";

/** What a built-in does to the script around it: the folder, the variables, the positional parameters. */
export function applyBuiltin({ name, argv }: Invocation, scope: Scope): void {
  const args = argv.slice(1);
  switch (name) {
    case "cd":
    case "pushd":
    case "chdir":
      scope.enter(args.find(({ text }) => !/^-[LPe@]+$/.test(text) && text !== "--"));
      return;
    case "popd":
      scope.cwds = [UNKNOWN_VALUE.text];
      return;
    case "read":
    case "mapfile":
    case "readarray":
    case "getopts":
      for (const { text } of readOptions(args, { short: "adinNptuOcC" }).operands)
        scope.assign(text, UNKNOWN_VALUE);
      assignArrayOf(args, scope);
      return;
    case "printf":
      if (args[0]?.text.startsWith("-v") === true)
        scope.assign(args[0].text.slice(2) || (args[1]?.text ?? ""), UNKNOWN_VALUE);
      return;
    case "unset":
      for (const { text } of args) {
        scope.assign(text, derivedValue(""));
        scope.forget(text);
      }
      return;
    case "set":
      setPositional(args, scope);
      return;
    case "alias":
      for (const { text } of args) {
        const equals = text.indexOf("=");
        if (equals > 0) scope.aliases.set(text.slice(0, equals), text.slice(equals + 1));
      }
      return;
    case "shift":
      shiftPositional(scope);
      return;
    case "export":
    case "declare":
    case "typeset":
    case "local":
    case "readonly":
      for (const { text, glob, splits } of args) {
        // A nameref stands for whatever the variable holds that it names.
        if (/^-[a-zA-Z]*n/.test(args[0]?.text ?? "")) {
          scope.assign(text.replace(/=.*$/s, ""), UNKNOWN_VALUE);
          continue;
        }
        const equals = text.indexOf("=");
        if (equals > 0)
          scope.assign(text.slice(0, equals), { text: text.slice(equals + 1), plain: false, glob, splits });
      }
      return;
    default:
  }
}

function assignArrayOf(args: readonly Value[], scope: Scope): void {
  const at = args.findIndex(({ text }) => text === "-a");
  const name = at === -1 ? undefined : args[at + 1];
  if (name !== undefined) scope.assign(name.text, UNKNOWN_VALUE);
}

function setPositional(args: readonly Value[], scope: Scope): void {
  const dashes = args.findIndex(({ text }) => text === "--");
  const words = dashes === -1 ? [] : args.slice(dashes + 1);
  for (const [index, value] of words.entries()) scope.assign(String(index + 1), value);
}

/** How far is not worth telling: each parameter may then be any of those behind it. */
function shiftPositional(scope: Scope): void {
  const values: Value[] = [];
  for (let number = 1; number < 16; number += 1) {
    const value = scope.lookup(String(number));
    if (value === undefined) break;
    values.push(value);
  }
  for (const [index] of values.entries())
    for (const value of values.slice(index + 1)) scope.assign(String(index + 1), value);
}

const QUOTED_SUBSCRIPT = /\[[^\]]*(?:\$\(|`)/;
const EVALUATES_SUBSCRIPTS = new Set(
  "let declare typeset local readonly export test [ printf unset read mapfile getopts wait ((".split(" "),
);

/** A value that runs a command as soon as somebody counts with it: `x='a[$(…)]'; ((x))`. */
export function evaluatesWhenCounted({ text }: Value): boolean {
  return text.includes("[") && /^\w+\[[^\]]*(?:\$\(|`)/.test(text);
}

/** Built-ins that evaluate `a[$(…)]` in an argument, even one in single quotes. */
export function hidesCode({ name, argv }: Invocation): boolean {
  return (
    EVALUATES_SUBSCRIPTS.has(name) &&
    argv.some(({ text }) => QUOTED_SUBSCRIPT.test(text)) &&
    (name !== "printf" || argv[1]?.text.startsWith("-v") === true)
  );
}
