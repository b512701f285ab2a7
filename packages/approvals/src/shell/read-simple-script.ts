import type { Word } from "../programs/declaration/word.ts";
import { INHERITED, PIPE, type PlainCommand, type StandardInput } from "./plain-script.ts";
import { changesShell } from "./read-builtin.ts";

/** Bounds under which no limit of the general reader can be exceeded. */
const MOST_CHARS = 2_048;
const MOST_COMMANDS = 64;

const RESERVED = new Set(
  "case coproc do done elif else end esac fi for foreach function if in repeat select then time until while".split(
    " ",
  ),
);

const [OTHER, PLAIN, BLANK, EQUALS, QUOTE, DOUBLE_QUOTE, SEMICOLON, AMPERSAND, BAR, NEWLINE] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
];

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
  return kinds;
})();

/**
 * Reads scripts of simple commands with literal words, joined by `;`, `&&`, `||`, `|` and line ends, in one pass over the
 * text. Most commands of an agent are such scripts, and parsing them costs more than judging them. The result is the one
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
        if (!this.#readWord()) return undefined;
        needsCommand = false;
      } else if (kind === NEWLINE && this.#words.length === 0 && !needsCommand) this.#at += 1;
      else {
        // No operator may stand where a command is expected.
        if (this.#words.length === 0) return undefined;
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

  /** Reads a word of plain and quoted parts. */
  #readWord(): boolean {
    const source = this.#source;
    const start = this.#at;
    let text = "";
    let at = start;
    for (;;) {
      const from = at;
      let kind = this.#kindAt(at);
      while (kind === PLAIN) kind = this.#kindAt(++at);
      text += source.slice(from, at);
      if (kind === QUOTE) {
        const end = source.indexOf("'", at + 1);
        if (end === -1) return false;
        text += source.slice(at + 1, end);
        at = end + 1;
      } else if (kind === DOUBLE_QUOTE) {
        const end = source.indexOf('"', at + 1);
        const quoted = source.slice(at + 1, end);
        // Expansions, escapes and control characters are left to the general reader.
        if (end === -1 || !/^[^$`\\!\p{Cc}]*$/u.test(quoted)) return false;
        text += quoted;
        at = end + 1;
      } else if (kind === EQUALS && this.#words.length > 0 && source.startsWith("-", start)) {
        // Behind a dash it can't be an assignment.
        text += "=";
        at += 1;
      } else if (kind === OTHER && at < source.length) return false;
      else if (kind === EQUALS) return false;
      else break;
    }
    if (text.includes("\0")) return false;
    if (this.#words.length === 0) {
      if (RESERVED.has(text) || changesShell(text)) return false;
      this.#start = start;
    }
    this.#words.push({ text });
    this.#at = at;
    this.#end = at;
    return true;
  }

  #endCommand(nextInput: StandardInput): boolean {
    this.#commands.push({
      words: this.#words,
      wordsWithoutBraces: undefined,
      builtin: undefined,
      environment: NONE,
      redirects: NONE,
      input: this.#input,
      folders: this.#folders,
      text: this.#source.slice(this.#start, this.#end),
    });
    this.#words = [];
    this.#input = nextInput;
    return this.#commands.length < MOST_COMMANDS;
  }
}

const NONE: readonly never[] = [];
