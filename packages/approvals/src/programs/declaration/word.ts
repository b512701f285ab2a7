/** One word of a simple command, after quote removal and the expansions that are understood. */
export interface Word {
  /** The text of the word. Undefined if only running the script would reveal it (the output of a substitution). */
  readonly text: string | undefined;
  /** Set if `text` is a file name pattern that the shell expands when it runs the command. */
  readonly isGlob?: boolean | undefined;
  /** For a pattern: the names that match it, if they are known. */
  readonly matches?: readonly string[] | undefined;
  /** Set if the word may turn into any number of words, or none (an unquoted substitution, the words of `xargs`). */
  readonly maySplit?: boolean | undefined;
  /** True if the word is read from standard input when the command runs, false if from a file. */
  readonly isInput?: boolean | undefined;
  /** Set if the text is not known, but can only be numbers. */
  readonly isNumber?: boolean | undefined;
}

export function literal(text: string): Word {
  return { text };
}

/** Whether a text looks like an option. */
export function isDashed(text: string | undefined): boolean {
  return text?.startsWith("-") === true;
}
