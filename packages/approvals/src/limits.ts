/** What one evaluation may cost. A command beyond any of these is too long to judge, and no preset except `bypass` accepts it. */
export const LIMITS = {
  /** Characters of a command, quoted data and here-documents included. */
  sourceChars: 1_048_576,
  /** Characters outside of quotes and here-documents: what the parser's time depends on. */
  syntaxChars: 8_192,
  /** Unquoted brackets of each kind. The parser's time grows with the square of their number. */
  brackets: 96,
  hereDocuments: 16,
  /** Dollar signs and backticks in double quotes and unquoted here-documents. */
  expansions: 256,
  /** Backslashes in double quotes. The parser takes a slow path for each of them. */
  escapes: 20_000,
  /** Unquoted line ends, semicolons, ampersands and pipes. */
  separators: 1_000,
  /** Simple commands of all scripts of a request, after loops are unrolled. */
  commands: 200,
  /** Words after loops are unrolled and braces are expanded. */
  words: 1_500,
  /** Characters of one argument of a program whose declaration reads it: a script for sed, awk or jq. */
  argumentChars: 32_768,
  /** Characters of all such arguments of a request. */
  examinedChars: 131_072,
  /** Characters of a path: as long as Linux accepts. */
  pathChars: 4_096,
  /** Characters of all paths that are judged. */
  judgedPathChars: 131_072,
  /** Letters of one cluster of options. */
  clusterLetters: 64,
  /** Characters of all words after expansion. */
  expandedChars: 2_097_152,
  /** Scripts inside scripts, wrappers around wrappers, substitutions in substitutions. */
  nesting: 12,
  /** Folders that a command may run in, after each `cd` that may fail. */
  folders: 4,
  /** Names that a file name pattern may match. */
  matches: 1_000,
  /** Files and folders that are looked at for a pattern of a whole tree. */
  treeEntries: 50_000,
  /** Characters of a command that a regular expression may allow. */
  regexChars: 16_384,
  /** Characters that the regular expressions of `deny` and `ask` search per request, all rules together. */
  searchedChars: 393_216,
  /** Characters of code in other languages that is searched for commands. */
  codeChars: 65_536,
} as const;
