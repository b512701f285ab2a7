import { forEachChild, type SyntaxNode } from "unbash";
import { baseName } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import { parseSource } from "../shell/parse-source.ts";
import type { PlainScript } from "../shell/plain-script.ts";
import { PRINTERS, runsArguments, wordsOf } from "./scan-script.ts";

const MOST_NODES = 20_000;
const MOST_SCRIPTS = 64;
const DEEPEST_NODE = 400;
const DEEPEST_SCRIPT = 8;

export interface FoundCommands {
  /** The words of every command that the text holds, also inside arguments. */
  readonly commands: readonly (readonly string[])[];
  /** False if there is more of it than is looked at. */
  readonly isComplete: boolean;
}

/** Finds every command in a script that is not understood, for the denials and questions of the user. */
export function findCommands({ syntax, commands }: Pick<PlainScript, "syntax" | "commands">): FoundCommands {
  const finder = new CommandFinder();
  if (syntax === undefined)
    for (const { words } of commands)
      finder.add(
        words.map(({ text = "" }) => text),
        0,
      );
  else finder.visit(syntax, 0, 0);
  finder.readPrinted();
  return finder;
}

class CommandFinder implements FoundCommands {
  readonly commands: (readonly string[])[] = [];
  isComplete = true;
  /** Text that is printed or given as input: a script, if anything here runs one. */
  readonly #printed: string[] = [];
  #nodes = 0;
  #scripts = 0;

  visit(node: SyntaxNode, depth: number, nesting: number): void {
    this.#nodes += 1;
    if (this.#nodes > MOST_NODES || depth > DEEPEST_NODE) {
      this.isComplete = false;
      return;
    }
    if (node.type === "Command") this.add(wordsOf(node), nesting);
    if (node.type === "HereDoc") this.#printed.push(node.body.text);
    if (node.type === "HereString") this.#printed.push(node.target?.value ?? "");
    forEachChild(node, (child) => this.visit(child, depth + 1, nesting));
  }

  add(words: readonly string[], nesting: number): void {
    const [first] = words;
    if (first === undefined) return;
    this.commands.push(words);
    const name = baseName(first);
    if (name === "echo" || name === "printf") this.#printed.push(words.slice(1).join(" "), ...words.slice(1));
    for (const text of textsOf(words)) this.#readText(text, nesting);
  }

  readPrinted(): void {
    const runsText = this.commands.some((words) => words.some((word) => runsArguments(baseName(word))));
    if (!runsText) return;
    for (const text of this.#printed) if (/\s/.test(text)) this.#readText(text, 1);
  }

  #readText(text: string, nesting: number): void {
    this.#scripts += 1;
    if (this.#scripts > MOST_SCRIPTS || nesting >= DEEPEST_SCRIPT || text.length > LIMITS.syntaxChars) {
      this.isComplete = false;
      return;
    }
    const { script } = parseSource(text);
    if (script !== undefined) this.visit(script, 0, nesting + 1);
  }
}

/** Whether the words behind a command's name may be another command. */
export function mayRunArguments(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "");
  return name === "git" ? words.some((word) => GIT_RUNS.has(word)) : !PRINTERS.has(name);
}

/** Commands of git that run what an argument says. */
const GIT_RUNS = new Set(["bisect", "filter-branch", "rebase", "submodule"]);

/** The arguments that may be a script, or have one in them. */
function textsOf(words: readonly string[]): readonly string[] {
  const name = baseName(words[0] ?? "");
  const texts = words.slice(1).filter((word) => /\s/.test(word));
  if (name === "awk" || name === "sed")
    return texts.flatMap((text) => [...text.matchAll(/"([^"]*\s[^"]*)"|\/([^/]*\s[^/]*)\//g)].map(quoted));
  if (name === "git") return words.some((word) => GIT_RUNS.has(word)) ? texts : [];
  if (PRINTERS.has(name)) return [];
  return texts.map((text) => text.replace(/^(?:--?[\w-]+=|-[A-Za-z](?=[a-z]))/, ""));
}

function quoted([, first, second]: RegExpMatchArray): string {
  return first ?? second ?? "";
}
