import type { Effect } from "./effect.ts";
import type { ParsedCall } from "./parsed-call.ts";

/**
 * The meaning of an argument.
 *
 * - `data`: text that can have no effect. `pattern`: a regular expression or similar, equivalent for a policy.
 * - `number`: digits with an optional sign, fraction and unit (`10`, `+5`, `1.5s`, `20%`, `512M`).
 * - `read`, `write`, `delete`, `delete-tree`: a path and what happens to it. A `read` of `-` is standard input.
 * - `local-read`: a `read` by a program that also accepts addresses: a word with a scheme is not understood.
 * - `output`: a file that is written, where `-` is standard output. Elsewhere `-` is a file (`tee -`, `mkdir -`).
 * - `read-write`: a file that is changed in place. `folder`: a folder that is entered or listed (a read).
 * - `cwd`: the folder that the program changes to first; its other paths are relative to that folder (`git -C`).
 * - `host`, `url`: a connection that only reads. `send-host`, `send-url`: one that sends data.
 * - `remote`: the name of a configured git remote; a URL or path there is not understood.
 * - `package`: the name of a package in the configured registry; URLs, paths and `git+…` are not understood.
 * - `script`: a file that is executed. `code`: code for an interpreter. `shell`: a script for a shell.
 * - `command`: this word and all after it are a command. Only as the `rest` of operands.
 */
export type RoleName =
  | "code"
  | "command"
  | "cwd"
  | "data"
  | "delete"
  | "delete-tree"
  | "folder"
  | "host"
  | "local-read"
  /** A file whose mode is changed. */
  | "mode"
  | "number"
  | "output"
  | "package"
  | "pattern"
  | "read"
  | "read-write"
  | "remote"
  | "script"
  | "send-host"
  | "send-url"
  | "shell"
  | "url"
  | "write";

/** A role, or the literal words that are accepted: a list, or a pattern for the whole word. */
export type Role = RoleName | RegExp | readonly string[];

/** The operands of a command, in order. Further operands are not understood. */
export interface Operands {
  /** Roles of the first operands. */
  readonly first?: readonly Role[] | undefined;
  /** Role of every operand between `first` and `last`. Undefined: none are accepted. */
  readonly rest?: Role | undefined;
  /** Role of the last operand (`cp a b TARGET`), counted after `first`. */
  readonly last?: Role | undefined;
  /** Fewer operands are not understood. Default: 0. */
  readonly atLeast?: number | undefined;
  /** Whether every word is harmless here, even one that is only known at run time or that looks like an option. */
  readonly acceptsAnyWord?: boolean | undefined;
}

export interface OptionDeclaration {
  /** Whether the option takes an argument, and in which form. `attached`: only as `--name=value` or `-nvalue`. */
  readonly argument: "none" | "required" | "attached";
  readonly role?: Role | undefined;
  /** Effects of using the option at all. */
  readonly effects?: readonly Effect[] | undefined;
  /** Replaces the command's operands: `sed -i` changes the files that plain `sed` reads. */
  readonly operands?: Operands | undefined;
  /** Set if everything after the option and its argument is an operand (`python -m MODULE`, `node -e CODE`). */
  readonly endsOptions?: boolean | undefined;
  /** Set if the command does not have its usual effects with this option (`--dry-run`). */
  readonly replacesEffects?: boolean | undefined;
  /**
   * Set if the program only prints about itself with this option (`--version`). Understood only if it is the one argument,
   * because a program may act on its other arguments first (`sed -e 'w FILE' --version`).
   */
  readonly isInformation?: boolean | undefined;
}

/** Keys list all names of an option: `"-n, --lines"`. */
export type OptionTable = Readonly<Record<string, OptionDeclaration>>;

/**
 * How a program reads its arguments.
 *
 * - `gnu`: clusters of letters, `--name=value`, options also after operands, `--` ends them.
 * - `posix`: the same, but the first operand ends the options (`env`, `timeout`, `xargs`).
 * - `words`: options are whole words with one or two dashes and never cluster; `-name value` or `-name=value` (`find`, `go`, `openssl`).
 * - `leading-words`: the same, but the first operand ends the options (`xxd`).
 */
export type ArgumentSyntax = "gnu" | "posix" | "words" | "leading-words";

/** One command: a program, or a subcommand of one. Everything that is not declared is not understood. */
export interface CommandDeclaration {
  /** Default: `gnu`, or that of the enclosing command. */
  readonly syntax?: ArgumentSyntax | undefined;
  readonly options?: OptionTable | undefined;
  /**
   * Set if no option of the program writes, runs or connects, declared or not (`cat`, `grep`, `wc`). Then a file name pattern may
   * match names that look like options, and operands that are read may be known only at run time.
   */
  readonly hasHarmlessOptions?: boolean | undefined;
  /** Set if the first word is a cluster of option letters even without a dash (`tar xzf a.tgz`). */
  readonly hasUndashedCluster?: boolean | undefined;
  /** Default: no operands are accepted. */
  readonly operands?: Operands | undefined;
  /** Effects of every call. */
  readonly effects?: readonly Effect[] | undefined;
  /**
   * Examines a call whose arguments need more than a role (a sed script, `find` expressions, combinations of options). Returns
   * further effects, or a sentence about what is not understood.
   */
  readonly examine?: ((call: ParsedCall) => readonly Effect[] | string) | undefined;
  /**
   * The first operand selects one of these. The options of this command may precede it. A call without any of them is
   * understood only if `operands` or `effects` say what it does.
   */
  readonly subcommands?: Readonly<Record<string, CommandDeclaration>> | undefined;
  /** Other names of this subcommand. Denials match the main name (`npm run-script` is `npm run`). */
  readonly aliases?: readonly string[] | undefined;
}

export interface ProgramDeclaration extends CommandDeclaration {
  /** The names under which the program is installed. The first one is its name in rules. */
  readonly names: readonly string[];
}

/** Declares a program. Checked for contradictions (two options with one name) by the table that collects all programs. */
export function declareProgram(declaration: ProgramDeclaration): ProgramDeclaration {
  return declaration;
}

/** An option without an argument. */
export const flag: OptionDeclaration = { argument: "none" };

/** An option without an argument, with its own effects. */
export function flagWith(settings: Omit<OptionDeclaration, "argument" | "role">): OptionDeclaration {
  return { argument: "none", ...settings };
}

/** An option with a required argument. */
export function value(
  role: Role,
  settings: Omit<OptionDeclaration, "argument" | "role"> = {},
): OptionDeclaration {
  return { argument: "required", role, ...settings };
}

/** An option with an optional argument, which must be attached: `--color=always`, `-i.bak`. */
export function attachedValue(
  role: Role,
  settings: Omit<OptionDeclaration, "argument" | "role"> = {},
): OptionDeclaration {
  return { argument: "attached", role, ...settings };
}

/** An option with which the program only prints about itself. */
export const information: OptionDeclaration = { argument: "none", isInformation: true };

/** `--help` and `--version`, which print and exit, for programs that declare them. */
export const HELP: OptionTable = { "--help": information, "--version": information };
