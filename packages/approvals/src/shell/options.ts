import { isUnknown, type Value } from "./value.ts";

/** How a program reads its options: which of them take the next word. */
export interface OptionSyntax {
  /** Letters of short options that take a value, as in `-o file` or `-ofile`. */
  readonly short?: string;
  /** Long options (or single-dash words such as `-name`) that take the next word as their value. */
  readonly long?: readonly string[];
  /** The first word that is not an option ends the options. */
  readonly stopsAtOperand?: boolean;
}

export interface Options {
  /** Short letters and long names as they were written, without values. */
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly Value[]>;
  readonly operands: readonly Value[];
  /** Where in the arguments the first operand stands; the number of arguments when there is none. */
  readonly operandsAt: number;
  /** An argument that may turn out to be an option. */
  readonly uncertain: boolean;
}

/** Reads options the GNU way: clusters, `--name=value`, options after operands, `--` as the end. */
export function readOptions(args: readonly Value[], syntax: OptionSyntax = {}): Options {
  const flags = new Set<string>();
  const values = new Map<string, Value[]>();
  const operands: Value[] = [];
  let operandsAt = args.length;
  let uncertain = false;
  const keep = (name: string, value: Value | undefined): void => {
    flags.add(name);
    if (value === undefined) return;
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  };
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at];
    if (arg === undefined) break;
    const { text } = arg;
    if (text === "--") {
      operandsAt = Math.min(operandsAt, at + 1);
      operands.push(...args.slice(at + 1));
      break;
    }
    if (text.startsWith("-") && text !== "-") {
      if (isUnknown(arg)) uncertain = true;
      const equals = text.indexOf("=");
      const name = equals === -1 ? text : text.slice(0, equals);
      if (text.startsWith("--") || syntax.long?.includes(name) === true) {
        if (equals !== -1) keep(name, { ...arg, text: text.slice(equals + 1) });
        else if (syntax.long?.includes(name) === true) keep(name, args[(at += 1)]);
        else keep(name, undefined);
        continue;
      }
      for (let letter = 1; letter < text.length; letter += 1) {
        const char = text[letter] ?? "";
        if (syntax.short?.includes(char) === true) {
          const rest = text.slice(letter + 1);
          keep(char, rest === "" ? args[(at += 1)] : { ...arg, text: rest });
          break;
        }
        flags.add(char);
      }
      continue;
    }
    if (text.startsWith("\u0000")) uncertain = true;
    if (operands.length === 0) operandsAt = at;
    if (syntax.stopsAtOperand === true) {
      operands.push(...args.slice(at));
      break;
    }
    operands.push(arg);
  }
  return { flags, values, operands, operandsAt, uncertain };
}

/** Whether an option was given: a letter, or a long name in full or shortened as GNU programs allow. */
export function hasOption(options: Options, ...names: readonly string[]): boolean {
  for (const name of names) {
    if (options.flags.has(name)) return true;
    if (!name.startsWith("--")) continue;
    for (const flag of options.flags) if (flag.length > 2 && name.startsWith(flag)) return true;
  }
  return false;
}
