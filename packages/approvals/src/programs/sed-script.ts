/**
 * The worst case of a script: it only edits text, no sed accepts it, or it may do more (`e`, `w`, `r` and everything unknown).
 */
type Verdict = "harmless" | "invalid" | "unknown";

/** Commands without arguments. */
const PLAIN = new Set(["=", "d", "D", "F", "g", "G", "h", "H", "n", "N", "p", "P", "x", "z"]);

/**
 * Whether a sed script only edits the text that passes through: substitutions without the flags `e` and `w`, printing,
 * deleting, inserting literal text, branches, and addresses.
 */
export function isHarmlessSedScript(script: string): boolean {
  // Versions of sed disagree on whether `[/]` contains the end of an expression. The script must be harmless either way.
  const verdicts = new Set([new SedScript(script, true).parse(), new SedScript(script, false).parse()]);
  return verdicts.has("harmless") && !verdicts.has("unknown");
}

class SedScript {
  static readonly kept = new SedScript("", false);
  readonly #script: string;
  readonly #ignoresBrackets: boolean;
  #at = 0;
  #depth = 0;

  constructor(script: string, ignoresBrackets: boolean) {
    this.#script = script;
    this.#ignoresBrackets = ignoresBrackets;
  }

  parse(): Verdict {
    for (;;) {
      this.#skip(/[\s;]/);
      if (this.#at >= this.#script.length) return this.#depth === 0 ? "harmless" : "unknown";
      if (this.#peek() === "#") {
        this.#skip(/[^\n]/);
        continue;
      }
      const verdict = this.#readAddresses() ?? this.#readCommand();
      if (verdict !== undefined) return verdict;
    }
  }

  #peek(): string {
    return this.#script.charAt(this.#at);
  }

  #skip(letters: RegExp): void {
    while (this.#at < this.#script.length && letters.test(this.#peek())) this.#at += 1;
  }

  /** Reads `/x/`, `5`, `$`, `1~2`, `1,5`, `/a/,/b/`, `1,+3` and a `!` after them. */
  #readAddresses(): Verdict | undefined {
    const verdict = this.#readAddress();
    if (verdict !== undefined) return verdict;
    this.#skip(/[ \t]/);
    if (this.#peek() === ",") {
      this.#at += 1;
      this.#skip(/[ \t]/);
      if (this.#peek() === "+" || this.#peek() === "~") this.#at += 1;
      const start = this.#at;
      const second = this.#readAddress();
      if (second !== undefined) return second;
      if (this.#at === start) return "unknown";
    }
    this.#skip(/[ \t]/);
    if (this.#peek() === "!") this.#at += 1;
    this.#skip(/[ \t]/);
    return undefined;
  }

  #readAddress(): Verdict | undefined {
    const first = this.#peek();
    if (first === "$") this.#at += 1;
    else if (first === "/") {
      this.#at += 1;
      if (!this.#readExpression("/")) return "unknown";
      this.#skip(/[IM]/);
    } else if (/\d/.test(first)) {
      this.#skip(/\d/);
      if (this.#peek() === "~") {
        this.#at += 1;
        this.#skip(/\d/);
      }
    } else if (first === "\\") {
      const delimiter = this.#script.charAt(this.#at + 1);
      if (!isDelimiter(delimiter)) return "unknown";
      this.#at += 2;
      if (!this.#readExpression(delimiter)) return "unknown";
      this.#skip(/[IM]/);
    }
    return undefined;
  }

  #readCommand(): Verdict | undefined {
    const command = this.#peek();
    this.#at += 1;
    if (command === "{") {
      this.#depth += 1;
      return undefined;
    }
    if (command === "}") {
      this.#depth -= 1;
      return this.#depth < 0 ? "unknown" : this.#readEnd();
    }
    if (PLAIN.has(command)) return this.#readEnd();
    if (command === "q" || command === "Q" || command === "l") {
      this.#skip(/[ \t]/);
      this.#skip(/\d/);
      return this.#readEnd();
    }
    if (command === "s") return this.#readSubstitution();
    if (command === "y") return this.#readTransliteration();
    if (command === "a" || command === "i" || command === "c") return this.#readText();
    if (command === ":" || command === "b" || command === "t" || command === "T")
      return this.#readLabel(command);
    return "unknown";
  }

  /** Only blanks may follow, up to the next command. */
  #readEnd(): Verdict | undefined {
    this.#skip(/[ \t]/);
    return /^[;\n}#]?$/.test(this.#peek()) ? undefined : "unknown";
  }

  /** Depending on the version, a label ends with the line, with `;` or with `}`. Only plain names are understood. */
  #readLabel(command: string): Verdict | undefined {
    this.#skip(/[ \t]/);
    const start = this.#at;
    this.#skip(/\w/);
    if (command === ":" && this.#at === start) return "unknown";
    if (command !== ":" && this.#at === start) return this.#readEnd();
    return /^[;\n]?$/.test(this.#peek()) ? undefined : "unknown";
  }

  /** The text of `a`, `i` and `c` ends with the first line without a trailing backslash. */
  #readText(): Verdict | undefined {
    for (;;) {
      const end = this.#script.indexOf("\n", this.#at);
      const line = this.#script.slice(this.#at, end === -1 ? undefined : end);
      this.#at = end === -1 ? this.#script.length : end + 1;
      if (end === -1 || !line.endsWith("\\")) return undefined;
      if (line.endsWith("\\\\")) return "unknown";
    }
  }

  #readSubstitution(): Verdict | undefined {
    const delimiter = this.#peek();
    if (!isDelimiter(delimiter)) return "unknown";
    this.#at += 1;
    if (!this.#readExpression(delimiter) || !this.#readPlain(delimiter)) return "unknown";
    this.#skip(/[gpiIMm0-9]/);
    if (this.#readEnd() === undefined) return undefined;
    // `e` runs the result, and `w` writes it. All other letters are errors.
    return /[\sew]/.test(this.#peek()) ? "unknown" : "invalid";
  }

  #readTransliteration(): Verdict | undefined {
    const delimiter = this.#peek();
    if (!isDelimiter(delimiter)) return "unknown";
    this.#at += 1;
    if (!this.#readPlain(delimiter) || !this.#readPlain(delimiter)) return "unknown";
    return this.#readEnd();
  }

  /** Skips a regular expression and its delimiter. */
  #readExpression(delimiter: string): boolean {
    if (this.#ignoresBrackets) return this.#readPlain(delimiter);
    for (; this.#at < this.#script.length; this.#at += 1) {
      const letter = this.#peek();
      if (letter === "\n") return false;
      if (letter === "\\") {
        this.#at += 1;
        if (this.#peek() === "\n") return false;
      } else if (letter === "[") {
        if (!this.#readBrackets()) return false;
      } else if (letter === delimiter) {
        this.#at += 1;
        return true;
      }
    }
    return false;
  }

  /** Moves to the `]` that ends a bracket expression. Classes such as `[:alpha:]` contain nested brackets. */
  #readBrackets(): boolean {
    const match = /\[\^?\]?(?:\[:\w+:\]|[^\][\n\\]|\\[^\n\]])*\]/y;
    match.lastIndex = this.#at;
    const found = match.exec(this.#script);
    if (found === null) return false;
    this.#at += found[0].length - 1;
    return true;
  }

  /** Skips text up to an unescaped delimiter. */
  #readPlain(delimiter: string): boolean {
    for (; this.#at < this.#script.length; this.#at += 1) {
      const letter = this.#peek();
      if (letter === "\n") return false;
      if (letter === "\\") this.#at += 1;
      else if (letter === delimiter) {
        this.#at += 1;
        return true;
      }
    }
    return false;
  }
}

function isDelimiter(letter: string): boolean {
  return /^[!"#%&'()*+,\-./:;<=>?@^_`|~]$/.test(letter);
}
