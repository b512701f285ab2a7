/** Limits of one evaluation. A command beyond any of these is too long to judge, and no preset except `bypass` accepts it. */
export const LIMITS = {
  sourceChars: 1_048_576, // Characters of a command, quoted data and here-documents included.
  syntaxChars: 8_192, // Characters outside quotes and here-documents, which determine the parser's time.
  brackets: 96, // Unquoted brackets of each kind. The parser's time grows with the square of their number.
  hereDocuments: 16,
  expansions: 256, // Dollar signs and backticks in double quotes and unquoted here-documents.
  separators: 1_000, // Unquoted line ends, semicolons, ampersands and pipes.
  commands: 200, // Simple commands of all scripts of a request, after loops are unrolled.
  words: 1_500, // Words after loops are unrolled and brace lists are expanded.
  argumentChars: 32_768, // Characters of one argument that a declaration reads: a script for sed, awk or jq.
  examinedChars: 131_072, // Characters of all such arguments of a request.
  pathChars: 4_096, // Characters of a path, as on Linux.
  judgedPathChars: 131_072, // Characters of all paths that are judged.
  clusterLetters: 64, // Letters of one option cluster.
  expandedChars: 2_097_152, // Characters of all words after expansion.
  nesting: 12, // Scripts inside scripts, wrappers around wrappers, substitutions in substitutions.
  folders: 4, // Folders that a command may run in, after each `cd` that may fail.
  matches: 1_000, // Names that a file name pattern may match.
  treeEntries: 50_000, // Files and folders that are visited for a pattern of a whole tree.
  regexChars: 16_384, // Characters of a command that a regular expression may allow.
  searchedChars: 393_216, // Characters that regular expressions of `deny` and `ask` search, all rules together.
  codeChars: 65_536, // Characters of code in other languages that is searched for commands.
} as const;

type Limit = keyof typeof LIMITS;

/** The work budget of one request. Scripts in scripts share it, because loops around them multiply their work. */
export class WorkBudget {
  readonly #spent = new Map<Limit, number>();

  /** @returns whether everything that was spent so far is within the limit. */
  spend(what: Limit, amount: number): boolean {
    const spent = (this.#spent.get(what) ?? 0) + amount;
    this.#spent.set(what, spent);
    return spent <= LIMITS[what];
  }

  hasExceeded(...limits: readonly Limit[]): boolean {
    return limits.some((what) => !this.spend(what, 0));
  }
}
