import type { ParsedScript } from "unbash";
import type { Word } from "../programs/declaration/word.ts";
import type { Builtin, SetVariable } from "../programs/shell-builtins.ts";

/** The shells that are known to read some text differently. `unknown`: any of them, so all must read it alike. */
export type Dialect = "bash" | "zsh" | "unknown";

export type StandardInput =
  | { readonly kind: "inherited" }
  | { readonly kind: "pipe" }
  | { readonly kind: "file"; readonly path: Word }
  /** A here-document or here-string. The text is undefined if it is known only at run time. */
  | { readonly kind: "text"; readonly text: string | undefined };

export const INHERITED: StandardInput = { kind: "inherited" };
export const PIPE: StandardInput = { kind: "pipe" };

export interface FileRedirect {
  readonly kind: "read" | "write";
  readonly path: Word;
}

/** One simple command with everything that the shell adds to it. */
export interface PlainCommand {
  /** The program and its arguments. Empty if there are only redirections or assignments. */
  readonly words: readonly Word[];
  /** Set for a builtin that the shell itself runs: `cd`, `export`, `source`. */
  readonly builtin?: Builtin | undefined;
  readonly environment: readonly SetVariable[];
  readonly redirects: readonly FileRedirect[];
  readonly input: StandardInput;
  /** The folders that it may run in: more than one after a `cd` that may have failed. */
  readonly folders: readonly string[];
  readonly text: string;
}

/** A script that is fully understood, or its first problem. */
export interface PlainScript {
  readonly commands: readonly PlainCommand[];
  /** One sentence. Undefined if the whole script is understood. */
  readonly problem?: string | undefined;
  /** The script as the parser reads it. Undefined if it is too long for the parser. */
  readonly syntax: ParsedScript | undefined;
}

/**
 * Thrown in this folder if a script is not understood, and caught by `readScript`. Never leaves the package, and is not an
 * `Error`: most scripts of a busy agent may end here, and a stack trace costs more than the parsing.
 */
export class NotPlain {
  /** V8 discards the optimised code of classes that have no instance at a garbage collection: busy classes keep one. */
  static readonly kept = new NotPlain("");
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }
}

/** Ends the reading of a script: `what` is a noun phrase for a person. */
export function notPlain(what: string): never {
  // oxlint-disable-next-line typescript/only-throw-error -- see above
  throw new NotPlain(what);
}
