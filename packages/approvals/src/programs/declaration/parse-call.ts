import { LIMITS } from "../../limits.ts";
import type {
  ArgumentSyntax,
  CommandDeclaration,
  Operands,
  OptionDeclaration,
  OptionTable,
  ProgramDeclaration,
  Role,
} from "./declaration.ts";
import type { Effect } from "./effect.ts";
import type { NotUnderstood, ParsedCall } from "./parsed-call.ts";
import { applyRole } from "./apply-role.ts";
import { literal, type Word } from "./word.ts";

/**
 * Parses the arguments of a program by its declaration. Anything that is not declared makes the whole call not understood: an
 * unknown option, an abbreviated long option, an operand where none is declared, a word that is known only at run time and could
 * act as an option.
 */
export function parseCall(program: ProgramDeclaration, args: readonly Word[]): ParsedCall | NotUnderstood {
  return new CallParser(program, args).parse();
}

export function isNotUnderstood(result: object): result is NotUnderstood {
  return "problem" in result;
}

const NO_OPTIONS: ReadonlyMap<string, FoundOption> = new Map();

class CallParser {
  static readonly kept = new CallParser({ names: [] }, []);
  readonly #args: readonly Word[];
  readonly #path: string[];
  #options: Map<string, Word[]> | undefined;
  readonly #used: FoundOption[] = [];
  readonly #optionEffects: Effect[] = [];
  readonly #operands: Word[] = [];
  #normalized: Word[];
  #command: CommandDeclaration;
  #syntax: ArgumentSyntax;
  #optionsByName: ReadonlyMap<string, FoundOption>;
  #operandSpec: Operands | undefined;
  #replacesEffects = false;
  #index = 0;

  constructor(program: ProgramDeclaration, args: readonly Word[]) {
    const name = program.names[0] ?? "";
    this.#args = args;
    this.#command = program;
    this.#syntax = program.syntax ?? "gnu";
    this.#optionsByName = optionIndex(program.options);
    this.#operandSpec = program.operands;
    this.#path = [name];
    this.#normalized = [literal(name)];
  }

  parse(): ParsedCall | NotUnderstood {
    let optionsEnded = false;
    const clusterProblem = this.#readUndashedCluster();
    if (clusterProblem !== undefined) return this.#fail(clusterProblem);
    while (this.#index < this.#args.length) {
      const word = this.#args[this.#index++];
      if (word === undefined) break;
      if (optionsEnded || this.#isOperand(word)) {
        if (this.#selectSubcommand(word, optionsEnded)) continue;
        if (this.#command.subcommands !== undefined && this.#operands.length === 0)
          return this.#fail(`has no declared subcommand "${word.text ?? "…"}"`);
        this.#operands.push(word);
        this.#normalized.push(word);
        if (this.#syntax === "posix" || this.#syntax === "leading-words") {
          // The first operand ends the options, because the rest may be a command with its own options.
          this.#takeRest();
        }
        continue;
      }
      if (word.text === "--") {
        optionsEnded = true;
        continue;
      }
      const problem = this.#readOption(word);
      if (problem !== undefined) return this.#fail(problem);
    }
    return this.#finish();
  }

  /** Treats all remaining words as operands, whatever they look like. */
  #takeRest(): void {
    const rest = this.#args.slice(this.#index);
    this.#index = this.#args.length;
    this.#operands.push(...rest);
    this.#normalized.push(...rest);
  }

  /** Whether the program treats a word as an operand, whatever it expands to. */
  #isOperand({ text, isGlob, matches }: Word): boolean {
    if (this.#operandSpec?.acceptsAnyWord === true)
      return text === undefined || !this.#isDeclaredOption(text);
    // It might be an option: `#readOption` rejects it.
    if (text === undefined) return this.#command.hasHarmlessOptions === true;
    // A file name that the pattern matches may begin with a dash.
    if (isGlob === true && /^[*?[{(!+@]/.test(text))
      return (
        this.#command.hasHarmlessOptions === true ||
        (matches !== undefined && !matches.some((match) => match.startsWith("-")))
      );
    return text === "-" || text === "" || !text.startsWith("-");
  }

  #isDeclaredOption(text: string): boolean {
    return text.startsWith("-") && this.#findOption(text) !== undefined;
  }

  #selectSubcommand({ text }: Word, optionsEnded: boolean): boolean {
    const { subcommands } = this.#command;
    if (subcommands === undefined || this.#operands.length > 0 || optionsEnded || text === undefined)
      return false;
    const found = findSubcommand(subcommands, text);
    if (found === undefined) return false;
    const [name, command] = found;
    this.#command = command;
    this.#syntax = command.syntax ?? this.#syntax;
    this.#optionsByName = optionIndex(command.options);
    this.#operandSpec = command.operands;
    this.#path.push(name);
    // Global options are left out of the normalised words, so that a rule about `git push` covers `git -C . push`.
    this.#normalized = this.#path.map(literal);
    return true;
  }

  /** Reads `tar xzf a.tgz` like `-xzf`, as long as only the last letter takes an argument. */
  #readUndashedCluster(): string | undefined {
    const word = this.#args[0];
    if (this.#command.hasUndashedCluster !== true || word === undefined) return undefined;
    if (word.text === undefined || word.isGlob === true) return "has options that are only known at run time";
    if (word.text.startsWith("-")) return undefined;
    const inner = word.text
      .slice(0, -1)
      .split("")
      .map((letter) => this.#findOption(`-${letter}`));
    if (inner.some((found) => found?.option.argument !== "none"))
      return `"${word.text}" is not a list of options`;
    this.#index = 1;
    return this.#readOption(literal(`-${word.text}`));
  }

  #readOption({ text, isGlob }: Word): string | undefined {
    if (text === undefined || text === "") return "has an argument that is only known at run time";
    // Whatever matches `--include=*.ts` begins with `--include=`.
    if (isGlob === true && !/^--[\w-]+=/.test(text)) return `"${text}" could expand to an option`;
    this.#normalized.push(isGlob === true ? { text, isGlob } : literal(text));
    if (text.startsWith("--") || this.#syntax === "words" || this.#syntax === "leading-words")
      return this.#readLong(text, isGlob === true);
    return this.#readCluster(text);
  }

  #readLong(text: string, isGlob: boolean): string | undefined {
    const equals = text.indexOf("=");
    const name = equals === -1 ? text : text.slice(0, equals);
    const found = this.#findOption(name);
    if (found === undefined) return `option ${name} is not declared`;
    const attached = equals === -1 ? undefined : wordOf(text.slice(equals + 1), isGlob);
    return this.#takeOption(found, attached);
  }

  #readCluster(text: string): string | undefined {
    // `-5` and `-20` of head, tail and git log are declared as the option "-NUMBER".
    const number = /^-\d+$/.test(text) ? this.#findOption("-NUMBER") : undefined;
    if (number !== undefined) return this.#takeOption(number, literal(text.slice(1)));
    for (let at = 1; at < text.length; at += 1) {
      if (at > LIMITS.clusterLetters) return "has more options than can be judged";
      const found = this.#findOption(`-${text.charAt(at)}`);
      if (found === undefined) return `option -${text.charAt(at)} is not declared`;
      if (found.option.argument === "none") {
        const problem = this.#takeOption(found, undefined);
        if (problem !== undefined) return problem;
        continue;
      }
      const rest = text.slice(at + 1);
      const { role = "data" } = found.option;
      // `-f=x` is the argument `x` for some programs and `=x` for others.
      if (rest.length > 1 && rest.startsWith("=") && role !== "data" && role !== "pattern")
        return `option ${found.key} has an argument with = in front of it`;
      return this.#takeOption(found, rest === "" ? undefined : literal(rest));
    }
    return undefined;
  }

  #takeOption(found: FoundOption, attached: Word | undefined): string | undefined {
    const { key, option } = found;
    this.#used.push(found);
    this.#options ??= new Map();
    const values = this.#options.get(key) ?? [];
    this.#options.set(key, values);
    if (option.effects !== undefined) this.#optionEffects.push(...option.effects);
    if (option.operands !== undefined) this.#operandSpec = option.operands;
    if (option.replacesEffects === true) this.#replacesEffects = true;
    if (option.isInformation === true) {
      // The path is the program and its subcommands. Only this option may follow them.
      if (this.#args.length !== this.#path.length) return `option ${key} is understood only on its own`;
      this.#replacesEffects = true;
      this.#operandSpec = {};
    }
    if (option.argument === "none")
      return attached === undefined ? undefined : `option ${key} takes no argument`;
    const argument = attached ?? (option.argument === "required" ? this.#args[this.#index++] : undefined);
    if (argument === undefined)
      return option.argument === "required" ? `option ${key} lacks its argument` : undefined;
    if (argument.maySplit === true) return `option ${key} has an argument that may be several words`;
    if (attached === undefined) {
      // The second name that matches would be an operand, or even an option.
      if (argument.isGlob === true) return `option ${key}: "${argument.text}" could expand to several words`;
      this.#normalized.push(argument);
    }
    values.push(argument);
    const problem = applyRole(option.role ?? "data", argument, this.#optionEffects);
    if (problem !== undefined) return `option ${key}: ${problem}`;
    if (option.endsOptions === true) this.#takeRest();
    return undefined;
  }

  #findOption(name: string): FoundOption | undefined {
    return this.#optionsByName.get(name);
  }

  #finish(): ParsedCall | NotUnderstood {
    const command = this.#command;
    const needsSubcommand =
      command.subcommands !== undefined && command.operands === undefined && command.effects === undefined;
    if (needsSubcommand && !this.#replacesEffects) return this.#fail("has no subcommand");
    const effects: Effect[] =
      this.#replacesEffects || command.effects === undefined ? [] : [...command.effects];
    effects.push(...this.#optionEffects);
    const acceptsUnknown = command.hasHarmlessOptions === true;
    const problem = addOperandEffects(this.#operandSpec ?? {}, this.#operands, acceptsUnknown, effects);
    if (problem !== undefined) return this.#fail(problem);
    const used = this.#used;
    const call: ParsedCall = {
      path: this.#path,
      options: this.#options ?? NO_VALUES,
      hasOption: (name) => used.some(({ names }) => names.includes(name)),
      operands: this.#operands,
      effects,
      normalized: this.#normalized,
    };
    if (this.#replacesEffects || command.examine === undefined) return call;
    const examined = command.examine(call);
    if (typeof examined === "string") return this.#fail(examined);
    effects.push(...examined);
    return call;
  }

  #fail(problem: string): NotUnderstood {
    return { problem: `${this.#path.join(" ")}: ${problem}` };
  }
}

interface FoundOption {
  /** The first of the names. */
  readonly key: string;
  readonly option: OptionDeclaration;
  readonly names: readonly string[];
}

const NO_VALUES: ReadonlyMap<string, readonly Word[]> = new Map();
const indexes = new WeakMap<OptionTable, ReadonlyMap<string, FoundOption>>();

function optionIndex(table: OptionTable | undefined): ReadonlyMap<string, FoundOption> {
  if (table === undefined) return NO_OPTIONS;
  const known = indexes.get(table);
  if (known !== undefined) return known;
  const index = new Map<string, FoundOption>();
  for (const [list, option] of Object.entries(table)) {
    const names = list.split(", ");
    const found: FoundOption = { key: names[0] ?? list, option, names };
    for (const name of names) {
      if (index.has(name)) throw new Error(`Option ${name} is declared twice in one table.`);
      index.set(name, found);
    }
  }
  indexes.set(table, index);
  return index;
}

type Subcommands = NonNullable<CommandDeclaration["subcommands"]>;
type FoundSubcommand = readonly [name: string, command: CommandDeclaration];
const subcommandIndexes = new WeakMap<Subcommands, ReadonlyMap<string, FoundSubcommand>>();

/** Names win over aliases, and the first of two equal aliases wins. */
function findSubcommand(subcommands: Subcommands, name: string): FoundSubcommand | undefined {
  const known = subcommandIndexes.get(subcommands);
  if (known !== undefined) return known.get(name);
  const found = Object.entries(subcommands);
  const aliases = found.flatMap((entry) => (entry[1].aliases ?? []).map((alias) => [alias, entry] as const));
  const index = new Map([...aliases.toReversed(), ...found.map((entry) => [entry[0], entry] as const)]);
  subcommandIndexes.set(subcommands, index);
  return index.get(name);
}

function wordOf(text: string, isGlob: boolean): Word {
  return isGlob ? { text, isGlob } : literal(text);
}

/** @returns the problem, if the operands are not understood. */
function addOperandEffects(
  spec: Operands,
  operands: readonly Word[],
  acceptsUnknown: boolean,
  effects: Effect[],
): string | undefined {
  const { first = [], rest, last, atLeast = 0 } = spec;
  if (operands.length < atLeast) return `needs at least ${atLeast} operands`;
  const lastIndex = last !== undefined && operands.length > first.length ? operands.length - 1 : -1;
  for (const [index, word] of operands.entries()) {
    if (index >= first.length && index !== lastIndex && rest === "command") {
      effects.push({ kind: "command", words: operands.slice(index) });
      return undefined;
    }
    const role = index < first.length ? first[index] : index === lastIndex ? last : rest;
    if (role === undefined) return `operand "${word.text ?? "…"}" is not declared`;
    if (spec.acceptsAnyWord === true && role === "data") continue;
    const problem = addOperandEffect(role, word, acceptsUnknown, effects);
    if (problem !== undefined) return problem;
    if (index >= first.length || !mayBeSeveral(word)) continue;
    // A word that becomes several also takes the roles of the operands after it.
    for (const later of new Set([...first.slice(index + 1), rest, last])) {
      if (later === undefined || later === role) continue;
      const laterProblem = addOperandEffect(later, word, acceptsUnknown, effects);
      if (laterProblem !== undefined) return laterProblem;
    }
  }
  return undefined;
}

function addOperandEffect(
  role: Role,
  word: Word,
  acceptsUnknown: boolean,
  effects: Effect[],
): string | undefined {
  if (!acceptsUnknown || word.text !== undefined || (role !== "read" && role !== "folder"))
    return applyRole(role, word, effects);
  effects.push({ kind: "read", path: word });
  return undefined;
}

function mayBeSeveral({ isGlob, maySplit }: Word): boolean {
  return isGlob === true || maySplit === true;
}
