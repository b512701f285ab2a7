import { PolicyError } from "../errors.ts";

/**
 * A path glob: `*` and `?` stay within a segment, `**` crosses segments, `{a,b}` matches either. There is one backtracking point
 * per kind of star, so the time is at most the product of the lengths.
 */
export type PathGlob = (path: string) => boolean;

export function compileGlob(glob: string): PathGlob {
  if (glob === "") throw new PolicyError("invalid_rule", "a path glob is empty: write `**` for every path");
  const alternatives = splitAlternatives(glob);
  return (path) =>
    alternatives.some((pattern) => matchWithStar(pattern.split("/"), path.split("/"), "**", matchName));
}

function splitAlternatives(glob: string): string[] {
  const match = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(glob);
  if (match === null) return [glob];
  const [, before = "", middle = "", after = ""] = match;
  const all = middle.split(",").flatMap((item) => splitAlternatives(before + item + after));
  if (all.length > 64)
    throw new PolicyError("invalid_rule", `the glob ${glob} has more than 64 alternatives`);
  return all;
}

/** Matches `*` and `?` within one name. Also used for host labels and tool names. */
export function matchName(pattern: string, name: string): boolean {
  return matchWithStar(pattern, name, "*", (want, letter) => want === "?" || want === letter);
}

/**
 * Returns a pattern with only `*` and `?` that matches everything that the shell pattern could. Shells differ in where a bracket
 * ends (`[]a]`, `[[:alpha:]]`), so a star replaces the rest of the name.
 */
export function widenBrackets(pattern: string): string {
  return pattern.replaceAll(/\[[^/]*/g, "*");
}

/** Matches a shell pattern against one name. A bracket matches the rest of the name. Hidden names need an explicit dot. */
export function matchesPattern(pattern: string, name: string): boolean {
  if (name.startsWith(".") && !/^[.[]/.test(pattern)) return false;
  return matchName(widenBrackets(pattern), name);
}

function matchWithStar(
  pattern: ArrayLike<string>,
  text: ArrayLike<string>,
  star: string,
  matches: (want: string, got: string) => boolean,
): boolean {
  let [p, s, starP, starS] = [0, 0, -1, 0];
  while (s < text.length) {
    const want = pattern[p];
    if (want === star) {
      starP = p;
      starS = s;
      p += 1;
    } else if (want !== undefined && matches(want, text[s] ?? "")) {
      p += 1;
      s += 1;
    } else if (starP !== -1) {
      p = starP + 1;
      starS += 1;
      s = starS;
    } else return false;
  }
  while (pattern[p] === star) p += 1;
  return p === pattern.length;
}
