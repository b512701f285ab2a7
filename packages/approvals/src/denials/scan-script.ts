import { retainShape } from "../retain-shape.ts";
import { forEachChild, type Command, type ParsedScript, type SyntaxNode } from "unbash";
import { baseName } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import { DOWNLOADERS, INTERPRETERS, SENDERS } from "./find-flow.ts";
import { parseSource } from "../shell/parse-source.ts";
import type { PlainCommand, PlainScript } from "../shell/plain-script.ts";
import {
  findCatastrophe,
  findProtectedWrite,
  isCheckedProgram,
  type DeniableCall,
  type Denial,
} from "../programs/catastrophic.ts";

/** Bounds of a scan: nodes that are visited, and scripts inside arguments. */
const MOST_NODES = 20_000;
const MOST_SCRIPTS = 16;
const DEEPEST_NODE = 400;

/** Programs that run a command or script in their arguments, besides interpreters. */
const RUNNERS = new Set(
  (
    ". at batch builtin busybox command env eval exec find nice nohup parallel screen script setsid source ssh time " +
    "timeout tmux trap unshare watch xargs"
  ).split(" "),
);
/** Programs that only print or search the text of their arguments. */
export const PRINTERS = new Set("[ awk cat echo git grep man printf rg sed test type which".split(" "));

export function runsArguments(program: string): boolean {
  return RUNNERS.has(program) || INTERPRETERS.test(program);
}

const WRITES_ALL = new Set("chmod chown ln mkdir rm rmdir shred tee touch truncate unlink".split(" "));
const DANGEROUS_BY_ARGUMENTS = new Set(["chmod", "chown", "dd", "find", "git", "rm"]);
const WRITES_LAST = new Set(["cp", "install", "mv", "rsync"]);
export interface ScannedCall extends DeniableCall {
  readonly words: readonly string[];
}

export interface Scan {
  /** Every simple command found anywhere, by its words as they are written. */
  readonly calls: readonly ScannedCall[];
  readonly denial: Denial | undefined;
}

/**
 * Looks at every simple command of a script that is not understood, wherever it stands and also inside the text of
 * arguments. Guesses towards denying: a word that names a dangerous program counts as a call of it.
 */
export function scanScript(
  { syntax, commands }: Pick<PlainScript, "syntax" | "commands">,
  context: Pick<DeniableCall, "home" | "folder">,
): Scan {
  const scanner = new ScriptScanner(context);
  if (syntax === undefined) scanner.scanCommands(commands);
  else scanner.scan(syntax);
  return { calls: scanner.calls, denial: scanner.denial };
}

/** One command of a pipeline. */
interface PipedCommand {
  readonly words: readonly string[];
  readonly hereDocuments: readonly string[];
}

class ScriptScanner {
  readonly calls: ScannedCall[] = [];
  denial: Denial | undefined;
  readonly #context: Pick<DeniableCall, "home" | "folder">;
  #nodes = 0;
  #scripts = 0;
  #runsHereDocuments = false;

  constructor(context: Pick<DeniableCall, "home" | "folder">) {
    this.#context = context;
  }

  scan(script: ParsedScript): void {
    this.#visit(script, 0);
  }

  /** A script that was too simple for the parser: there is nothing in it but these commands. */
  scanCommands(commands: readonly PlainCommand[]): void {
    let pipeline: PipedCommand[] = [];
    for (const { words, input, redirects } of commands) {
      if (input.kind !== "pipe") {
        this.#visitPipeline(pipeline);
        pipeline = [];
      }
      const texts = words.map(({ text = "" }) => text);
      pipeline.push({ words: texts, hereDocuments: [] });
      this.#visitCommand(texts, texts);
      for (const { kind, path } of redirects) this.#visitRedirect(kind, path.text ?? "", path.text ?? "");
    }
    this.#visitPipeline(pipeline);
  }

  #scanText(source: string): void {
    this.#scripts += 1;
    const script = this.#scripts < MOST_SCRIPTS ? parseSource(source).script : undefined;
    if (script !== undefined) this.scan(script);
  }

  #visitRedirect(kind: "read" | "write", target: string, text: string): void {
    // `bash < <(curl …)`.
    if (kind === "read" && downloadsInside(text))
      this.denial ??= { rule: "download-to-shell", reason: "runs what it downloads" };
    if (kind === "write") this.denial ??= findProtectedWrite(target, this.#context);
  }

  #visit(node: SyntaxNode, depth: number): void {
    this.#nodes += 1;
    if (this.#nodes > MOST_NODES || depth > DEEPEST_NODE || this.denial !== undefined) return;
    if (node.type === "Command" && node.name !== undefined)
      this.#visitCommand(
        wordsOf(node),
        node.args.map(({ text }) => text),
      );
    else if (node.type === "Pipeline")
      this.#visitPipeline(node.commands.flatMap((command) => simpleCommands(command).map(toPiped)));
    else if (node.type === "HereDoc") this.#visitHereDocument(node.body.text);
    else if (node.type === "Redirect" && node.target !== undefined) {
      if (node.operator === "<") this.#visitRedirect("read", "", node.target.text);
      else if (node.operator.includes(">")) this.#visitRedirect("write", node.target.value, "");
    }
    forEachChild(node, (child) => this.#visit(child, depth + 1));
  }

  /** Any of them may be the script of a shell, or be run later on. */
  #visitHereDocument(text: string): void {
    if (this.#runsHereDocuments && text.length < LIMITS.syntaxChars) this.#scanText(text);
  }

  /** @param texts The words as they are written, quotes and substitutions included. */
  #visitCommand(words: readonly string[], texts: readonly string[]): void {
    this.#addCall(words);
    const [name = ""] = words;
    const runsText = words.some((word) => runsArguments(baseName(word)));
    // `bash -c "$(curl …)"` and `bash <(curl …)`.
    if (runsText && texts.some(downloadsInside))
      this.denial ??= { rule: "download-to-shell", reason: `${name} runs what it downloads` };
    this.#runsHereDocuments = runsText;
    if (runsText) for (const word of words.slice(1)) if (/[\s;|&]/.test(word)) this.#scanText(word);
  }

  /** Every word that names a checked program may be where a command starts: `env -i rm -rf /`. */
  #addCall(words: readonly string[]): void {
    const [first = ""] = words;
    const program = baseName(first);
    const isRunner = runsArguments(program) || !/^[\w.+-]+$/.test(first);
    const isPrinter = PRINTERS.has(program);
    for (const [index, word] of words.entries()) {
      const name = baseName(word);
      if (index > 0 && (isPrinter || !(isCheckedProgram(name) || SENDERS.has(name)))) continue;
      // The bare name of a program is enough only behind a program that runs its arguments: `pytest -k sudo` is harmless.
      if (index > 0 && !DANGEROUS_BY_ARGUMENTS.has(name) && !isRunner) continue;
      const call: ScannedCall = {
        name,
        args: words.slice(index + 1),
        words: words.slice(index),
        ...this.#context,
      };
      this.calls.push(call);
      this.denial ??= findCatastrophe(call) ?? this.#findWrite(call);
    }
  }

  #findWrite({ name, args }: ScannedCall): Denial | undefined {
    const operands = args.filter((arg) => !arg.startsWith("-"));
    const targets = WRITES_ALL.has(name) ? operands : WRITES_LAST.has(name) ? operands.slice(-1) : [];
    for (const target of targets) {
      const denial = findProtectedWrite(target, this.#context);
      if (denial !== undefined) return denial;
    }
    return undefined;
  }

  #visitPipeline(commands: readonly PipedCommand[]): void {
    let downloads = false;
    const sent: string[] = [];
    for (const { words, hereDocuments } of commands) {
      if (runsInput(words)) {
        if (downloads) this.denial ??= { rule: "download-to-shell", reason: "runs what it downloads" };
        // What `echo` and here-documents send into a shell is a script.
        for (const text of sent) this.#scanText(text);
      }
      if (words.some((word) => DOWNLOADERS.has(baseName(word)))) downloads = true;
      sent.push(...words.filter((word) => /\s/.test(word)), words.slice(1).join(" "), ...hereDocuments);
    }
  }
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

function toPiped(node: Command): PipedCommand {
  const hereDocuments = node.redirects.flatMap((redirect) =>
    redirect.type === "HereDoc" ? [redirect.body.text] : [],
  );
  return { words: wordsOf(node), hereDocuments };
}

export function wordsOf(node: Command): readonly string[] {
  const words = node.args.map((arg) => (arg.type === "Word" ? arg.value : arg.text));
  return node.name === undefined ? words : [node.name.value, ...words];
}

const DOWNLOAD_INSIDE = /(?:\$\(|<\(|`)[^)`]{0,200}\b(?:curl|wget|fetch|aria2c)\b/;

/** An interpreter without a script of its own runs what it is sent. */
function runsInput(words: readonly string[]): boolean {
  const at = words.findIndex((word) => INTERPRETERS.test(baseName(word)));
  if (at === -1) return false;
  const args = words.slice(at + 1);
  if (args.some((arg) => /^-\w*[cem]$/.test(arg))) return false;
  const operands = args.filter((arg) => !arg.startsWith("-"));
  return operands.length === 0 || args.some((arg) => /^-\w*s$/.test(arg) || /^\/dev\/stdin$/.test(arg));
}

function downloadsInside(text: string): boolean {
  return DOWNLOAD_INSIDE.test(text.slice(0, LIMITS.syntaxChars));
}

retainShape(new ScriptScanner({ home: "/", folder: "/" }));
