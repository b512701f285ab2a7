import { retainShape } from "../retain-shape.ts";
import { LIMITS } from "../limits.ts";

/** A simple delimiter of a here-document, in one of the spellings that all shells read alike. */
const HERE_DOCUMENT = /-?[ \t]*(?:'([\w.-]+)'|"([\w.-]+)"|\\?([\w.-]+))/y;

const SPECIAL_IN_DOUBLE_QUOTES = /["\\$`]/g;

/**
 * Checks in linear time that a script is cheap to parse, before the parser sees it. Quoted text and here-documents are
 * data and may be long; everything else counts. Where quoting gets complicated, all that follows counts as syntax.
 *
 * @returns why the script is not parsed, or undefined.
 */
export function measureSource(source: string): string | undefined {
  if (source.length > LIMITS.sourceChars) return "too long to judge";
  // Most commands can't exceed any of the limits.
  if (source.length < LIMITS.brackets && !source.includes("<<")) return undefined;
  return new SourceScanner(source).scan();
}

interface Delimiter {
  readonly text: string;
  readonly hasTabs: boolean;
  readonly expands: boolean;
}

class SourceScanner {
  readonly #source: string;
  readonly #delimiters: Delimiter[] = [];
  #at = 0;
  #quoted = 0;
  #hereDocuments = 0;
  #round = 0;
  #curly = 0;
  #square = 0;
  #separators = 0;
  #expansions = 0;
  #escapes = 0;
  /** Set inside a substitution in double quotes: quotes are no longer followed. */
  #countsAll = false;

  constructor(source: string) {
    this.#source = source;
  }

  scan(): string | undefined {
    const source = this.#source;
    while (this.#at < source.length) {
      const problem = this.#step(source.charCodeAt(this.#at));
      if (problem !== undefined) return problem;
      if (this.#at - this.#quoted > LIMITS.syntaxChars) return "too long to judge";
      if (Math.max(this.#round, this.#curly, this.#square) > LIMITS.brackets) return "too long to judge";
      if (this.#separators > LIMITS.separators || this.#expansions > LIMITS.expansions)
        return "too long to judge";
    }
    return this.#delimiters.length > 0 ? "a here-document has no end" : undefined;
  }

  #step(char: number): string | undefined {
    this.#at += 1;
    switch (char) {
      case 92: // backslash
        this.#at += 1;
        return undefined;
      case 39: // single quote
        return this.#countsAll ? undefined : this.#skipTo("'");
      case 34: // double quote
        return this.#countsAll ? undefined : this.#skipDoubleQuotes();
      case 35: // hash
        if (!this.#countsAll && this.#startsWord()) this.#skipComment();
        return undefined;
      case 10: // newline
        this.#separators += 1;
        return this.#skipBodies();
      case 38: // ampersand
      case 59: // semicolon
      case 124: // pipe
        this.#separators += 1;
        return undefined;
      case 60: // less than
        return this.#readHereDocument();
      case 96: // backtick
        this.#expansions += 1;
        return undefined;
      case 40:
        this.#round += 1;
        return undefined;
      case 91:
        this.#square += 1;
        return undefined;
      case 123:
        this.#curly += 1;
        return undefined;
      default:
        return undefined;
    }
  }

  #startsWord(): boolean {
    const before = this.#at < 2 ? " " : this.#source.charAt(this.#at - 2);
    return /[\s;&|()]/.test(before);
  }

  #skipComment(): void {
    const end = this.#source.indexOf("\n", this.#at);
    this.#at = end === -1 ? this.#source.length : end;
  }

  #skipTo(quote: string): string | undefined {
    const end = this.#source.indexOf(quote, this.#at);
    if (end === -1) return "a quote has no end";
    this.#quoted += end - this.#at;
    this.#at = end + 1;
    return undefined;
  }

  #skipDoubleQuotes(): string | undefined {
    const source = this.#source;
    const start = this.#at;
    SPECIAL_IN_DOUBLE_QUOTES.lastIndex = start;
    for (let match; (match = SPECIAL_IN_DOUBLE_QUOTES.exec(source)) !== null;) {
      const at = match.index;
      const [char] = match;
      if (char === "$") this.#expansions += 1;
      if (char === "\\") this.#escapes += 1;
      if (this.#expansions > LIMITS.expansions || this.#escapes > LIMITS.escapes) return "too long to judge";
      if (char === "\\") SPECIAL_IN_DOUBLE_QUOTES.lastIndex = at + 2;
      else if (char === '"') {
        this.#quoted += at - start;
        this.#at = at + 1;
        return undefined;
      } else if (char === "`" || /[({[]/.test(source.charAt(at + 1))) {
        if (/^\$\{\w+\}/.test(source.slice(at, at + 64))) continue;
        this.#countsAll = true;
        return undefined;
      }
    }
    return "a quote has no end";
  }

  #readHereDocument(): string | undefined {
    const source = this.#source;
    if (source.charAt(this.#at) !== "<") return undefined;
    if (source.charAt(this.#at + 1) === "<") {
      this.#at += 2;
      return undefined;
    }
    HERE_DOCUMENT.lastIndex = this.#at + 1;
    const match = HERE_DOCUMENT.exec(source);
    // Inside a substitution, quotes are not followed, so `<<` may be text.
    if (this.#countsAll) return (this.#hereDocuments += 1) > 1 ? "too long to judge" : undefined;
    if (match === null || !/^(?:[\s;&|<>()]|$)/.test(source.charAt(HERE_DOCUMENT.lastIndex)))
      return "a here-document has an unusual delimiter";
    this.#hereDocuments += 1;
    if (this.#hereDocuments > LIMITS.hereDocuments) return "too long to judge";
    const isPlain = match[3] !== undefined && !match[0].includes("\\");
    this.#delimiters.push({
      text: match[1] ?? match[2] ?? match[3] ?? "",
      hasTabs: match[0].startsWith("-"),
      expands: isPlain,
    });
    this.#at = HERE_DOCUMENT.lastIndex;
    return undefined;
  }

  /** The bodies of all here-documents that were opened on the line before. */
  #skipBodies(): string | undefined {
    for (let delimiter; (delimiter = this.#delimiters.shift()) !== undefined;) {
      const start = this.#at;
      const end = this.#findEndOfBody(delimiter);
      if (end === undefined) return "a here-document has no end";
      if (delimiter.expands) this.#countExpansions(start, end);
      this.#quoted += end - start;
      this.#at = this.#delimiters.length === 0 ? end : Math.min(end + 1, this.#source.length);
    }
    return undefined;
  }

  /** The end of the line that ends a here-document. */
  #findEndOfBody({ text, hasTabs }: Delimiter): number | undefined {
    const source = this.#source;
    for (let line = this.#at; ;) {
      let at = line;
      if (hasTabs) while (source.charAt(at) === "\t") at += 1;
      const end = at + text.length;
      if (source.startsWith(text, at) && (end === source.length || source.charAt(end) === "\n")) return end;
      // Without tabs before it, the delimiter itself is faster to find than all the lines before it.
      const next = source.indexOf(hasTabs ? "\n" : `\n${text}`, line);
      if (next === -1) return undefined;
      line = next + 1;
    }
  }

  #countExpansions(start: number, end: number): void {
    for (const char of ["$", "`"]) {
      for (let at = this.#source.indexOf(char, start); at !== -1 && at < end;) {
        this.#expansions += 1;
        if (this.#expansions > LIMITS.expansions) return;
        at = this.#source.indexOf(char, at + 1);
      }
    }
  }
}

retainShape(new SourceScanner(""));
