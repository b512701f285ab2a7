import { parse, type ParsedScript } from "unbash";
import { LIMITS } from "../limits.ts";
import { retainShape } from "../retain-shape.ts";

/**
 * Parses a script, unless that may be expensive: then it is too long to judge. The parser recovers from errors, which are
 * listed in the result.
 */
export function parseSource(source: string): ParsedScript | undefined {
  if (!isCheapToParse(source)) return undefined;
  try {
    return parse(source);
  } catch (error) {
    // The parser recurses: a script can be nested too deeply for it.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Whether the parser's time is bounded, found in linear time. Quoted text and here-documents are data and may be long;
 * everything else counts. Where quoting gets complicated, all that follows counts as syntax.
 */
function isCheapToParse(source: string): boolean {
  if (source.length > LIMITS.sourceChars) return false;
  // Most commands can't exceed any of the limits.
  return source.length < LIMITS.brackets || new SourceScanner(source).isWithinLimits();
}

type Counted = "brackets" | "escapes" | "expansions" | "hereDocuments" | "separators";

/** What each unquoted character counts as. The kinds of brackets are counted separately. */
const COUNTED: Readonly<Record<string, Counted>> = {
  "\n": "separators",
  "&": "separators",
  "(": "brackets",
  ";": "separators",
  "[": "brackets",
  "`": "expansions",
  "{": "brackets",
  "|": "separators",
};
const SPECIAL = /[\\'"#\n&;|<`([{]/g;
const SPECIAL_IN_DOUBLE_QUOTES = /["\\$`]/g;
/** `<<` with a simple delimiter, in one of the spellings that all shells read alike. */
const HERE_DOCUMENT = /<<(-?)[ \t]*(?:'([\w.-]+)'|"([\w.-]+)"|(\\?)([\w.-]+))(?=[\s;&|<>()]|$)/y;

interface Delimiter {
  readonly text: string;
  readonly hasTabs: boolean;
  readonly expands: boolean;
}

class SourceScanner {
  readonly #source: string;
  readonly #counts = new Map<string, number>();
  #delimiters: Delimiter[] = [];
  /** Characters of quoted text and here-documents. */
  #data = 0;
  #isExceeded = false;
  /** Set inside a substitution in double quotes: quotes are no longer followed. */
  #countsAll = false;

  constructor(source: string) {
    this.#source = source;
  }

  isWithinLimits(): boolean {
    SPECIAL.lastIndex = 0;
    for (let match; (match = SPECIAL.exec(this.#source)) !== null;) {
      // Parts of the scan use the same expression, and a bound of their own.
      const next = this.#skip(match[0], match.index);
      if (this.#isExceeded || next - this.#data > LIMITS.syntaxChars) return false;
      SPECIAL.lastIndex = next;
    }
    return this.#source.length - this.#data <= LIMITS.syntaxChars;
  }

  /** @returns where the scan goes on. */
  #skip(char: string, at: number): number {
    const kind = COUNTED[char];
    if (kind !== undefined) this.#count(kind === "brackets" ? char : kind, LIMITS[kind]);
    if (char === "\\") return at + 2;
    if (char === "\n") return this.#skipBodies(at + 1);
    if (char === "<") return this.#skipDelimiter(at);
    if (this.#countsAll || kind !== undefined) return at + 1;
    if (char === '"') return this.#skipDoubleQuotes(at + 1);
    if (char === "'") return this.#skipData(at + 1, this.#find("'", at + 1)) + 1;
    // A hash sign starts a comment only at the start of a word.
    return at === 0 || /[\s;&|()]/.test(this.#source.charAt(at - 1)) ? this.#find("\n", at) : at + 1;
  }

  #count(what: string, limit: number): void {
    const count = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, count);
    if (count > limit) this.#isExceeded = true;
  }

  #find(text: string, from: number): number {
    const at = this.#source.indexOf(text, from);
    return at === -1 ? this.#source.length : at;
  }

  #skipData(start: number, end: number): number {
    this.#data += end - start;
    return end;
  }

  #skipDoubleQuotes(start: number): number {
    const source = this.#source;
    SPECIAL_IN_DOUBLE_QUOTES.lastIndex = start;
    for (let match; !this.#isExceeded && (match = SPECIAL_IN_DOUBLE_QUOTES.exec(source)) !== null;) {
      const [char] = match;
      const at = match.index;
      if (char === '"') return this.#skipData(start, at) + 1;
      if (char === "\\") {
        this.#count("escapes", LIMITS.escapes);
        SPECIAL_IN_DOUBLE_QUOTES.lastIndex = at + 2;
        continue;
      }
      this.#count("expansions", LIMITS.expansions);
      if (/^(?:`|\$[({[])/.test(source.slice(at, at + 2)) && !/^\$\{\w+\}/.test(source.slice(at, at + 64))) {
        this.#countsAll = true;
        return start;
      }
    }
    return this.#skipData(start, source.length);
  }

  #skipDelimiter(at: number): number {
    if (!this.#source.startsWith("<<", at)) return at + 1;
    if (this.#source.startsWith("<<<", at)) return at + 3;
    // Inside a substitution, quotes are not followed, so `<<` may be text.
    this.#count("hereDocuments", this.#countsAll ? 1 : LIMITS.hereDocuments);
    HERE_DOCUMENT.lastIndex = at;
    const match = HERE_DOCUMENT.exec(this.#source);
    if (match === null || this.#countsAll) {
      // Without its delimiter, the end of a here-document can't be found.
      this.#countsAll = true;
      return at + 2;
    }
    const [all, dash, single, double, escape, plain] = match;
    const text = single ?? double ?? plain ?? "";
    this.#delimiters.push({ text, hasTabs: dash === "-", expands: plain !== undefined && escape === "" });
    return at + all.length;
  }

  /** Skips the bodies of all here-documents that were opened on the line before. */
  #skipBodies(start: number): number {
    let at = start;
    for (const { text, hasTabs, expands } of this.#delimiters) {
      const end = this.#endOfBody(at, text, hasTabs);
      if (expands)
        for (const char of ["$", "`"])
          for (
            let next = this.#find(char, at);
            next < end && !this.#isExceeded;
            next = this.#find(char, next + 1)
          )
            this.#count("expansions", LIMITS.expansions);
      // The line end behind the delimiter is syntax again.
      at = this.#skipData(at, end);
    }
    this.#delimiters = [];
    return at;
  }

  /** The end of the line that ends a here-document. */
  #endOfBody(start: number, text: string, hasTabs: boolean): number {
    const source = this.#source;
    for (let line = start; line < source.length;) {
      let at = line;
      if (hasTabs) while (source.charAt(at) === "\t") at += 1;
      const end = at + text.length;
      if (source.startsWith(text, at) && (end === source.length || source.charAt(end) === "\n")) return end;
      // Without tabs before it, the delimiter itself is faster to find than all the lines before it.
      line = this.#find(hasTabs ? "\n" : `\n${text}`, line) + 1;
    }
    return source.length;
  }
}

retainShape(new SourceScanner(""));
retainShape(parse("A=1 b 'c' \"$d\" ${e} *.f $(g) > h | i && j; k <<X\nX\n"));
