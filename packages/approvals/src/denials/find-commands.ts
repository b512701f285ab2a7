import { forEachChild, type Command, type SyntaxNode } from "unbash";
import { baseName } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import { DOWNLOADERS, mayRunArguments, runsArguments, runsInput } from "../programs/known-by-name.ts";
import { retainShape } from "../retain-shape.ts";
import { parseSource } from "../shell/parse-source.ts";

/** Bounds of a search: beyond any of them it is incomplete. */
const MOST_NODES = 20_000;
const MOST_SCRIPTS = 64;
const MOST_WORDS = 512;
const DEEPEST_NODE = 400;
const DEEPEST_SCRIPT = 8;

export interface FoundCommand {
  readonly words: readonly string[];
  /** Set for text that a program may run, but more likely treats as data. Only the user's own rules apply to it. */
  readonly isGuess: boolean;
}

export interface FoundCommands {
  /** Every command of a script, also inside the arguments of others. */
  readonly commands: readonly FoundCommand[];
  /** The files that output is redirected to. */
  readonly outputs: readonly string[];
  /** Whether a program runs what another one downloads. */
  readonly runsDownload: boolean;
  /** False if the script is too large to be searched completely. */
  readonly isComplete: boolean;
}

/** Finds the commands of a script that is not understood, wherever they are. */
export function findCommands(script: SyntaxNode, withGuesses: boolean): FoundCommands {
  const finder = new CommandFinder(withGuesses);
  finder.visit(script, { nesting: 0, isGuess: false }, 0);
  finder.readPrinted();
  return finder;
}

interface Position {
  /** Scripts around this one. */
  readonly nesting: number;
  readonly isGuess: boolean;
}

class CommandFinder implements FoundCommands {
  readonly commands: FoundCommand[] = [];
  readonly outputs: string[] = [];
  runsDownload = false;
  isComplete = true;
  /** Text that is printed or given as input: a script, if any command runs one. */
  readonly #printed: string[] = [];
  #hasRunner = false;
  readonly #withGuesses: boolean;
  #nodes = 0;
  #scripts = 0;

  constructor(withGuesses: boolean) {
    this.#withGuesses = withGuesses;
  }

  visit(node: SyntaxNode, position: Position, depth: number): void {
    this.#nodes += 1;
    if (this.#nodes > MOST_NODES || depth > DEEPEST_NODE) {
      this.isComplete = false;
      return;
    }
    if (node.type === "Command") this.#addCommand(node, position);
    else if (node.type === "Time") this.#push(["time"], position.isGuess);
    else if (node.type === "Pipeline") this.#addPipeline(node.commands, position);
    else if (node.type === "HereDoc") this.#printed.push(node.body.text);
    else if (node.type === "HereString") this.#printed.push(node.target?.value ?? "");
    else if (node.type === "Redirect" && node.target !== undefined && !position.isGuess) {
      if (node.operator.includes(">")) this.outputs.push(node.target.value);
      // `bash < <(curl …)`.
      if (node.operator === "<" && downloadsInside(node.target.text)) this.runsDownload = true;
    }
    // Most words have nothing in them to run, and to take one apart costs more than all the rest.
    if (node.type !== "Word" || /[$`(]/.test(node.text))
      forEachChild(node, (child) => this.visit(child, position, depth + 1));
  }

  #push(words: readonly string[], isGuess: boolean): boolean {
    this.commands.push({ words, isGuess });
    const isRunner = words.some(runsArguments);
    if (isRunner) this.#hasRunner = true;
    return isRunner;
  }

  readPrinted(): void {
    if (!this.#hasRunner) return;
    for (const text of this.#printed)
      if (/\s/.test(text)) this.#readText(text, { nesting: 1, isGuess: true });
  }

  #addCommand(node: Command, position: Position): void {
    const all = wordsOf(node);
    const words = all.slice(0, MOST_WORDS);
    const [first] = words;
    if (first === undefined) return;
    if (all.length > MOST_WORDS) this.isComplete = false;
    const isRunner = this.#push(words, position.isGuess);
    const name = baseName(first);
    if (name === "echo" || name === "printf") this.#printed.push(words.slice(1).join(" "), ...words.slice(1));
    const isGuess = position.isGuess || !isRunner;
    if (!isGuess) {
      // `bash -c "$(curl …)"` and `bash <(curl …)`.
      if (node.args.some(({ text }) => downloadsInside(text))) this.runsDownload = true;
      for (const text of hereDocumentsOf(node)) this.#readText(text, { ...position, isGuess });
    }
    for (const text of scriptsIn(words, isGuess)) this.#readText(text, { ...position, isGuess });
  }

  /** What `echo` and here-documents send into a shell is a script. */
  #addPipeline(elements: readonly SyntaxNode[], position: Position): void {
    let downloads = false;
    const sent: string[] = [];
    for (const node of elements.flatMap((element) => simpleCommands(element))) {
      const words = wordsOf(node);
      if (runsInput(words) && !position.isGuess) {
        if (downloads) this.runsDownload = true;
        for (const text of sent) this.#readText(text, position);
      }
      if (words.some((word) => DOWNLOADERS.has(baseName(word)))) downloads = true;
      sent.push(
        ...words.filter((word) => /\s/.test(word)),
        words.slice(1).join(" "),
        ...hereDocumentsOf(node),
      );
    }
  }

  #readText(text: string, { nesting, isGuess }: Position): void {
    if (isGuess && !this.#withGuesses) return;
    this.#scripts += 1;
    if (this.#scripts > MOST_SCRIPTS || nesting >= DEEPEST_SCRIPT || text.length > LIMITS.syntaxChars) {
      this.isComplete = false;
      return;
    }
    const script = parseSource(text);
    if (script !== undefined) this.visit(script, { nesting: nesting + 1, isGuess }, 0);
  }
}

/** The arguments that may be a script, or have one in them. */
function scriptsIn(words: readonly string[], isGuess: boolean): readonly string[] {
  const name = baseName(words[0] ?? "");
  const args = words.slice(1);
  if (!isGuess) return args.filter((word) => /[\s;|&]/.test(word)).map(withoutOption);
  const texts = args.filter((word) => /\s/.test(word));
  if (name === "awk" || name === "sed")
    return texts.flatMap((text) =>
      text.length > LIMITS.syntaxChars
        ? [text]
        : [...text.matchAll(/"([^"]*\s[^"]*)"|\/([^/]*\s[^/]*)\//g)].map(
            (match) => match[1] ?? match[2] ?? "",
          ),
    );
  return mayRunArguments(words) ? texts.map(withoutOption) : [];
}

/** The value of `--option=value` and `-Svalue`. */
function withoutOption(text: string): string {
  return text.replace(/^(?:--?[\w-]+=|-[A-Za-z](?=[a-z]))/, "");
}

/** The commands of one element of a pipeline: itself, or those of a group. */
function simpleCommands(node: SyntaxNode, depth = 0): readonly Command[] {
  if (node.type === "Command") return node.name === undefined ? [] : [node];
  if (depth > 8) return [];
  const found: Command[] = [];
  forEachChild(node, (child) => {
    found.push(...simpleCommands(child, depth + 1));
  });
  return found;
}

function wordsOf(node: Command): readonly string[] {
  const words = node.args.map((arg) => (arg.type === "Word" ? arg.value : arg.text));
  return node.name === undefined ? words : [node.name.value, ...words];
}

function hereDocumentsOf(node: Command): readonly string[] {
  return node.redirects.flatMap((redirect) => (redirect.type === "HereDoc" ? [redirect.body.text] : []));
}

const DOWNLOAD_INSIDE = /(?:\$\(|<\(|`)[^)`]{0,200}\b(?:curl|wget|fetch|aria2c)\b/;

function downloadsInside(text: string): boolean {
  return DOWNLOAD_INSIDE.test(text.slice(0, LIMITS.syntaxChars));
}

retainShape(new CommandFinder(false));
