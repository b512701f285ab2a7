/**
 * The patterns that bridges without a parser match against the text. They don't decide well; this is only the
 * least possible work.
 */
const patterns = [
  /rm\s+-rf?\s+\//,
  /git\s+worktree\s+(?:remove|prune)/,
  /git\s+reset\s+--hard/,
  /git\s+push\s+.*--force(?!-with-lease)/,
  /\bsudo\b/,
  /curl.*\|\s*(?:ba)?sh/,
  /ch(?:mod|own)\s+-R\s+\S*\s*\//,
];

/** Number of texts matched per second. */
export function matchPatterns(commands: readonly string[], passes: number): number {
  let refused = 0;
  const before = performance.now();
  for (let pass = 0; pass < passes; pass += 1) {
    for (const command of commands) if (patterns.some((pattern) => pattern.test(command))) refused += 1;
  }
  const ms = performance.now() - before;
  if (refused === 0) throw new Error("no command of the corpus was refused");
  return (commands.length * passes * 1000) / ms;
}
