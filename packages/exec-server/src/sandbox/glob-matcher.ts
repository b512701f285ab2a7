/** A set of characters as part of a regular expression. */
interface CharacterClass {
  readonly source: string;
  /** The index after the closing bracket. */
  readonly end: number;
}

/**
 * Compiles a glob by the rules of Codex's own matcher: `?` and `*` stay within a name and match dots, `**`
 * crosses folders, `[a-z]` and `[!a-z]` are sets, `{a,b}` are alternatives (also a single one), and a
 * backslash makes a character literal. Throws if a bracket or brace is not closed, or if a range is reversed:
 * such a pattern would match nothing.
 */
export function compileGlob(glob: string): (path: string) => boolean {
  // By code points, and with a dot that matches line breaks, because file names may contain any character.
  const regexp = new RegExp(`^(?:${sourceOf(Array.from(glob))})$`, "su");
  return (path) => regexp.test(path);
}

function sourceOf(glob: readonly string[]): string {
  let source = "";
  let openBraces = 0;
  const isStart = (at: number): boolean =>
    at === 0 || glob[at - 1] === "/" || (openBraces > 0 && "{,".includes(glob[at - 1] ?? ""));
  const isEnd = (at: number): boolean =>
    at === glob.length || (openBraces > 0 && ",}".includes(glob[at] ?? ""));
  for (let at = 0; at < glob.length;) {
    const character = glob[at] ?? "";
    at += 1;
    switch (character) {
      case "\\":
        if (at === glob.length) throw new Error("It ends with a backslash.");
        source += literal(glob[at] ?? "");
        at += 1;
        break;
      case "?":
        source += "[^/]";
        break;
      case "*": {
        const first = at - 1;
        while (glob[at] === "*") at += 1;
        if (at - first === 1) source += "[^/]*";
        else if (!isStart(first) || (glob[at] !== "/" && !isEnd(at))) source += ".*";
        else if (glob[at] === "/") {
          source += "(?:.*/)?";
          at += 1;
        }
        // `a/**` also matches `a` itself, so that nothing can be added to a denied folder.
        else source = source.endsWith("/") ? `${source.slice(0, -1)}(?:/.*)?` : `${source}.*`;
        break;
      }
      case "[": {
        const found = readClass(glob, at);
        source += found.source;
        at = found.end;
        break;
      }
      case "{":
        openBraces += 1;
        source += "(?:";
        break;
      case "}":
        if (openBraces === 0) throw new Error("A closing brace has no opening brace.");
        openBraces -= 1;
        source += ")";
        break;
      case ",":
        source += openBraces > 0 ? "|" : ",";
        break;
      default:
        source += character === "/" ? "/" : literal(character);
    }
  }
  if (openBraces > 0) throw new Error("An opening brace has no closing brace.");
  return source;
}

function readClass(glob: readonly string[], start: number): CharacterClass {
  const isNegated = glob[start] === "!" || glob[start] === "^";
  const first = isNegated ? start + 1 : start;
  let ranges = "";
  for (let at = first; at < glob.length;) {
    // A closing bracket in the first position is a character of the set.
    if (glob[at] === "]" && at > first) {
      // A set never matches the separator.
      return { source: isNegated ? `[^/${ranges}]` : `(?!/)[${ranges}]`, end: at + 1 };
    }
    const from = characterAt(glob, at);
    at = from.end;
    if (glob[at] !== "-" || glob[at + 1] === "]" || at + 1 === glob.length) {
      ranges += literal(from.character);
      continue;
    }
    const to = characterAt(glob, at + 1);
    at = to.end;
    if (codePoint(from.character) > codePoint(to.character)) {
      throw new Error(`The range ${from.character}-${to.character} is reversed.`);
    }
    ranges += `${literal(from.character)}-${literal(to.character)}`;
  }
  throw new Error("An opening bracket has no closing bracket.");
}

function characterAt(glob: readonly string[], at: number): { character: string; end: number } {
  const isEscaped = glob[at] === "\\" && at + 1 < glob.length;
  return { character: glob[isEscaped ? at + 1 : at] ?? "", end: at + (isEscaped ? 2 : 1) };
}

function literal(character: string): string {
  return /^\w$/.test(character) ? character : `\\u{${codePoint(character).toString(16)}}`;
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
