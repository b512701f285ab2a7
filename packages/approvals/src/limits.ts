/** What one evaluation may cost. Beyond any of these a command is not refused unread: it is never allowed. */
export const LIMITS = {
  /** Characters of a command that are read at all; twice what a model can sensibly write in one call. */
  sourceChars: 131_072,
  /** Characters parsed in one evaluation, with the text inside `bash -c`, `eval` and here-documents counted again. */
  parsedChars: 393_216,
  /** Simple commands judged in one evaluation: a command of 64 KB stays below 50 ms. */
  invocations: 400,
  /** Words and redirections in one evaluation: more than the longest list of files that people pass. */
  words: 2_000,
  /** Words that are parsed: three times as many as are looked at, since words of the grammar and of blank lines count too. */
  parsedWords: 6_000,
  /** Shells in shells, wrappers around wrappers, substitutions in substitutions. Deeper than people nest. */
  nesting: 24,
  /** Open brackets of any kind at one point of the text. The parser's time grows with the square of this. */
  brackets: 200,
  /** Values of one variable that are tried; with more it counts as unknown. */
  variants: 6,
  /** Pieces (quotes, variables, literals) of one word. */
  wordParts: 256,
  /** Words that one brace expansion may give. */
  braceWords: 64,
  /** Regular expressions of a policy see this many characters of one command. */
  regexChars: 65_536,
} as const;
