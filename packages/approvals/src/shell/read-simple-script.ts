import { retainShape } from "../retain-shape.ts";
import type { Word } from "../programs/declaration/word.ts";
import { INHERITED, PIPE, type FileRedirect, type PlainCommand, type StandardInput } from "./plain-script.ts";
import { changesShell } from "./read-builtin.ts";

/** Bounds under which no limit of the general reader can be exceeded. */
const MOST_CHARS = 2_048;
const MOST_COMMANDS = 64;

const RESERVED = new Set(
  "case coproc do done elif else end esac fi for foreach function if in repeat select then time until while".split(
    " ",
  ),
);

const OTHER = 0;
const PLAIN = 1;
const BLANK = 2;
const EQUALS = 3;
const QUOTE = 4;
const DOUBLE_QUOTE = 5;
const SEMICOLON = 6;
const AMPERSAND = 7;
const BAR = 8;
const NEWLINE = 9;
const REDIRECT = 10;

const KINDS = ((): Uint8Array => {
  const kinds = new Uint8Array(128);
  const set = (chars: string, kind: number): void => {
    for (const char of chars) kinds[char.charCodeAt(0)] = kind;
  };
  set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,-", PLAIN);
  set(" \t", BLANK);
  set("=", EQUALS);
  set("'", QUOTE);
  set('"', DOUBLE_QUOTE);
  set(";", SEMICOLON);
  set("&", AMPERSAND);
  set("|", BAR);
  set("\n", NEWLINE);
  set("<>", REDIRECT);
  return kinds;
})();

/**
 * Reads scripts of simple commands with literal words, joined by `;`, `&&`, `||`, `|` and line ends, and redirected to or from
 * files, in one pass over the text. Most commands of an agent are such scripts, and parsing them costs more than judging them. The result is the one
 * of the general reader; a property test compares the two.
 *
 * @returns undefined if the script has anything else in it: then the general reader decides.
 */
export function readSimpleScript(
  source: string,
  folders: readonly string[],
): readonly PlainCommand[] | undefined {
  return source.length > MOST_CHARS ? undefined : new SimpleScriptReader(source, folders).read();
}

class SimpleScriptReader {
  readonly #source: string;
  readonly #folders: readonly string[];
  readonly #commands: PlainCommand[] = [];
  #at = 0;
  #words: Word[] = [];
  #redirects: FileRedirect[] = [];
  #start = 0;
  #end = 0;
  #input: StandardInput = INHERITED;

  constructor(source: string, folders: readonly string[]) {
    this.#source = source;
    this.#folders = folders;
  }

  read(): readonly PlainCommand[] | undefined {
    let needsCommand = false;
    while (this.#at < this.#source.length) {
      const kind = this.#kindAt(this.#at);
      if (kind === BLANK) this.#at += 1;
      else if (kind === PLAIN || kind === QUOTE || kind === DOUBLE_QUOTE) {
        if (!this.#addWord()) return undefined;
        needsCommand = false;
      } else if (kind === NEWLINE && this.#words.length === 0 && !needsCommand) this.#at += 1;
      else {
        // Neither an operator nor a redirection may stand where a command is expected.
        if (this.#words.length === 0) return undefined;
        if (kind === REDIRECT) {
          if (!this.#addRedirect(1)) return undefined;
          continue;
        }
        const isDoubled = this.#kindAt(this.#at + 1) === kind;
        if (kind === BAR || (kind === AMPERSAND && isDoubled)) needsCommand = true;
        else if (kind !== SEMICOLON && kind !== NEWLINE) return undefined;
        if (!this.#endCommand(kind === BAR && !isDoubled ? PIPE : INHERITED)) return undefined;
        this.#at += needsCommand && isDoubled ? 2 : 1;
      }
    }
    if (needsCommand || (this.#words.length > 0 && !this.#endCommand(INHERITED))) return undefined;
    return this.#commands.length === 0 ? undefined : this.#commands;
  }

  #kindAt(at: number): number {
    const code = this.#source.charCodeAt(at);
    return code < 128 ? (KINDS[code] ?? OTHER) : OTHER;
  }

  #addWord(): boolean {
    const start = this.#at;
    const text = this.#readWord(this.#words.length > 0);
    if (text === undefined) return false;
    // Digits right before a redirection name a descriptor.
    if (this.#kindAt(this.#at) === REDIRECT && /^\d+$/.test(this.#source.slice(start, this.#at)))
      return (
        this.#words.length > 0 &&
        /^[12]$/.test(text) &&
        // Input for another descriptor than 0 is for the general reader.
        this.#source[this.#at] === ">" &&
        this.#addRedirect(Number(text))
      );
    if (this.#words.length === 0) {
      if (RESERVED.has(text) || changesShell(text)) return false;
      this.#start = start;
    }
    this.#words.push({ text });
    this.#end = this.#at;
    return true;
  }

  /** Reads a word of plain and quoted parts. An equals sign in the first word may make it an assignment. */
  #readWord(acceptsEquals: boolean): string | undefined {
    const source = this.#source;
    let text = "";
    let at = this.#at;
    for (;;) {
      const from = at;
      let kind = this.#kindAt(at);
      while (kind === PLAIN) {
        at += 1;
        kind = this.#kindAt(at);
      }
      text += source.slice(from, at);
      if (kind === QUOTE) {
        const end = source.indexOf("'", at + 1);
        if (end === -1) return undefined;
        text += source.slice(at + 1, end);
        at = end + 1;
      } else if (kind === DOUBLE_QUOTE) {
        const end = source.indexOf('"', at + 1);
        const quoted = source.slice(at + 1, end);
        // Expansions, escapes and control characters are left to the general reader.
        if (end === -1 || !/^[^$`\\!\p{Cc}]*$/u.test(quoted)) return undefined;
        text += quoted;
        at = end + 1;
      } else if (kind === EQUALS && acceptsEquals && at > this.#at) {
        text += "=";
        at += 1;
      } else if (kind === EQUALS || (kind === OTHER && at < source.length)) return undefined;
      else break;
    }
    this.#at = at;
    return text.includes("\0") ? undefined : text;
  }

  /** `>`, `>>` and `<` with a file, and `>&` with descriptor 1 or 2. */
  #addRedirect(descriptor: number): boolean {
    const [operator = ""] = /^(?:>>?|<)(?:&[12](?![^\s;&|]))?/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += operator.length;
    this.#end = this.#at;
    const isInput = operator.startsWith("<");
    if (operator.includes("&")) return operator.startsWith(">&");
    while (this.#kindAt(this.#at) === BLANK) this.#at += 1;
    const start = this.#at;
    const kind = this.#kindAt(start);
    if (kind !== PLAIN && kind !== QUOTE && kind !== DOUBLE_QUOTE) return false;
    const text = this.#readWord(false);
    // The general reader knows which targets shells read in different ways.
    if (text === undefined || text === "" || /^\d+-\d*$/.test(this.#source.slice(start, this.#at)))
      return false;
    this.#end = this.#at;
    const path = { text };
    this.#redirects.push({ kind: isInput ? "read" : "write", path });
    if (!isInput) return true;
    // What a pipe sends is lost then, which the denials of a pipeline can't see.
    if (descriptor !== 1 || this.#input === PIPE) return false;
    this.#input = { kind: "file", path };
    return true;
  }

  #endCommand(nextInput: StandardInput): boolean {
    this.#commands.push({
      words: this.#words,
      wordsWithoutBraces: undefined,
      builtin: undefined,
      environment: NONE,
      redirects: this.#redirects,
      input: this.#input,
      folders: this.#folders,
      text: this.#source.slice(this.#start, this.#end),
    });
    this.#words = [];
    this.#redirects = [];
    this.#input = nextInput;
    return this.#commands.length < MOST_COMMANDS;
  }
}

const NONE: readonly never[] = [];

retainShape(new SimpleScriptReader("", []));
