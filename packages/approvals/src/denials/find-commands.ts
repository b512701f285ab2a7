import { forEachChild, type Command, type SyntaxNode } from "unbash";
import { baseName } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import { DOWNLOADERS, runsArguments, runsInput, scriptsIn } from "../programs/known-by-name.ts";
import { parseSource } from "../shell/parse-source.ts";

/** Limits of a search. Beyond any of them it is incomplete. */
const MOST = { nodes: 20_000, scripts: 64, words: 512, depth: 400, nesting: 8 };

interface FoundCommand {
  readonly words: readonly string[];
  /** Set for text that a program may run, but more likely treats as data. Only the user's own rules apply to it. */
  readonly isGuess: boolean;
}

export interface FoundCommands {
  readonly commands: readonly FoundCommand[];
  readonly outputs: readonly string[];
  /** Whether a program runs what another one downloads. */
  readonly runsDownload: boolean;
  /** False if the script is too large to be searched completely. */
  readonly isComplete: boolean;
}

/** Finds the commands of a script that is not understood, wherever they are. */
export function findCommands(script: SyntaxNode | undefined, withGuesses: boolean): FoundCommands {
  const finder = new CommandFinder(withGuesses);
  if (script === undefined) finder.isComplete = false;
  else finder.visit(script, { nesting: 0, isGuess: false }, 0);
  finder.readPrinted();
  return finder;
}

interface Position {
  readonly nesting: number;
  readonly isGuess: boolean;
}

class CommandFinder implements FoundCommands {
  static readonly kept = new CommandFinder(false);
  readonly commands: FoundCommand[] = [];
  readonly outputs: string[] = [];
  runsDownload = false;
  isComplete = true;
  /** Text that is printed or used as input. Parsed as a script if any command runs scripts. */
  readonly #printed: string[] = [];
  readonly #withGuesses: boolean;
  #hasRunner = false;
  #nodes = 0;
  #scripts = 0;

  constructor(withGuesses: boolean) {
    this.#withGuesses = withGuesses;
  }

  visit(node: SyntaxNode, position: Position, depth: number): void {
    this.#nodes += 1;
    if (this.#nodes > MOST.nodes || depth > MOST.depth) {
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
    // Most words contain nothing that runs, and parsing their parts costs more than everything else.
    if (node.type !== "Word" || /[$`(]/.test(node.text))
      forEachChild(node, (child) => this.visit(child, position, depth + 1));
  }

  #push(words: readonly string[], isGuess: boolean): boolean {
    this.commands.push({ words, isGuess });
    const isRunner = words.some(runsArguments);
    this.#hasRunner ||= isRunner;
    return isRunner;
  }

  readPrinted(): void {
    if (!this.#hasRunner) return;
    for (const text of this.#printed)
      if (/\s/.test(text)) this.#readText(text, { nesting: 1, isGuess: true });
  }

  #addCommand(node: Command, position: Position): void {
    const all = wordsOf(node);
    const words = all.slice(0, MOST.words);
    const [first, ...args] = words;
    if (first === undefined) return;
    if (all.length > MOST.words) this.isComplete = false;
    const isGuess = !this.#push(words, position.isGuess) || position.isGuess;
    if (/^(?:echo|printf)$/.test(baseName(first))) this.#printed.push(args.join(" "), ...args);
    // `bash -c "$(curl …)"` and `bash <(curl …)`.
    if (!isGuess && node.args.some(({ text }) => downloadsInside(text))) this.runsDownload = true;
    const texts = [...(isGuess ? [] : hereDocumentsOf(node)), ...scriptsIn(words, isGuess)];
    for (const text of texts) this.#readText(text, { ...position, isGuess });
  }

  /** Treats what `echo` and here-documents send to a shell as a script. */
  #addPipeline(elements: readonly SyntaxNode[], position: Position): void {
    if (position.isGuess) return;
    let downloads = false;
    const sent: string[] = [];
    for (const node of elements.flatMap((element) => simpleCommands(element))) {
      const words = wordsOf(node);
      if (runsInput(words)) {
        if (downloads) this.runsDownload = true;
        for (const text of sent) this.#readText(text, position);
      }
      if (words.some((word) => DOWNLOADERS.has(baseName(word)))) downloads = true;
      const texts = words.filter((word) => /\s/.test(word));
      sent.push(...texts, words.slice(1).join(" "), ...hereDocumentsOf(node));
    }
  }

  #readText(text: string, { nesting, isGuess }: Position): void {
    if (isGuess && !this.#withGuesses) return;
    this.#scripts += 1;
    if (this.#scripts > MOST.scripts || nesting >= MOST.nesting || text.length > LIMITS.syntaxChars) {
      this.isComplete = false;
      return;
    }
    const script = parseSource(text);
    if (script !== undefined) this.visit(script, { nesting: nesting + 1, isGuess }, 0);
  }
}

/** The commands of one element of a pipeline: itself, or those of a group. */
function simpleCommands(node: SyntaxNode, depth = 0): readonly Command[] {
  if (node.type === "Command") return node.name === undefined ? [] : [node];
  const found: Command[] = [];
  if (depth <= 8) forEachChild(node, (child) => void found.push(...simpleCommands(child, depth + 1)));
  return found;
}

function wordsOf({ name, args }: Command): readonly string[] {
  const words = args.map((arg) => (arg.type === "Word" ? arg.value : arg.text));
  return name === undefined ? words : [name.value, ...words];
}

function hereDocumentsOf(node: Command): readonly string[] {
  return node.redirects.flatMap((redirect) => {
    if (redirect.type === "HereDoc") return [redirect.body.text];
    return redirect.type === "HereString" ? [redirect.target?.value ?? ""] : [];
  });
}

function downloadsInside(text: string): boolean {
  const start = text.slice(0, LIMITS.syntaxChars);
  return /(?:\$\(|<\(|`)[^)`]{0,200}\b(?:curl|wget|fetch|aria2c)\b/.test(start);
}
