import type { Effect } from "./effect.ts";
import type { Word } from "./word.ts";

/** A call whose every argument is declared. */
export interface ParsedCall {
  /** The main names of the program and its subcommands: `["git", "stash", "pop"]`. */
  readonly path: readonly string[];
  /** Values per option, under the first name of its key. Options without an argument have an empty list. */
  readonly options: ReadonlyMap<string, readonly Word[]>;
  /** Whether an option is used, under any of its names: `-f` and `--force` for either. */
  readonly hasOption: (name: string) => boolean;
  readonly operands: readonly Word[];
  /** Effects that follow from the declaration alone. */
  readonly effects: readonly Effect[];
  /** The call without global options and with main names, as rules see it: `git -C . push` is `["git", "push"]`. */
  readonly normalized: readonly Word[];
}

/** The part that was not understood, in one sentence for a person. */
export interface NotUnderstood {
  readonly problem: string;
}
