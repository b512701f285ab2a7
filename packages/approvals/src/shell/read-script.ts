import type { AndOr, Command, For, ParsedScript, Pipeline, PipelineNode, Statement } from "unbash";
import { isNotUnderstood } from "../programs/declaration/parse-call.ts";
import type { Word } from "../programs/declaration/word.ts";
import { readBuiltin, type SetVariable } from "../programs/shell-builtins.ts";
import { resolvePath } from "../files/path.ts";
import { LIMITS, WorkBudget } from "../limits.ts";
import {
  NotPlain,
  notPlain,
  INHERITED,
  PIPE,
  type PlainCommand,
  type PlainScript,
  type StandardInput,
} from "./plain-script.ts";
import { parseSource } from "./parse-source.ts";
import { readRedirects } from "./read-redirects.ts";
import { readTest } from "./read-test.ts";
import { readOneWord, readWords, withoutBraces, type WordScope } from "./read-word.ts";
import { isOwnVariable } from "../programs/declaration/script-variables.ts";

export interface ScriptContext extends Pick<WordScope, "dialect" | "home" | "folders"> {
  /** Shared by all scripts of a request. Default: a new one. */
  readonly budget?: WorkBudget | undefined;
}

/**
 * Parses a script into simple commands. Understands sequences, pipelines, conditions and loops over literal words, with words
 * that are literal after quote removal. Anything else makes the whole script not understood: no command is judged alone, because
 * the unread part might change the effects of the rest.
 */
export function readScript(source: string, context: ScriptContext): PlainScript {
  const budget = context.budget ?? new WorkBudget();
  const isExhausted = budget.hasExceeded("commands", "words", "expandedChars");
  const syntax = isExhausted ? undefined : parseSource(source);
  if (syntax === undefined) return { commands: [], problem: "too long to judge", syntax };
  const [error] = syntax.errors ?? [];
  if (error !== undefined)
    return { commands: [], problem: `not a script that can be read: ${error.message}`, syntax };
  const reader = new ScriptReader(source, budget);
  try {
    reader.read(syntax, context);
  } catch (thrown) {
    if (!(thrown instanceof NotPlain)) throw thrown;
    return { commands: reader.commands, problem: `${thrown.what} is not understood`, syntax };
  }
  return { commands: reader.commands, syntax };
}

interface ShellState extends WordScope {
  folders: Folders;
  readonly variables: Map<string, Word>;
}

/** The state of a subshell, whose changes don't persist. */
function copyOf(state: WordScope): ShellState {
  return { ...state, variables: new Map(state.variables) };
}

/** The folders that the shell may be in. After a node, the state has those for any outcome, and the result those for success. */
type Folders = readonly string[];

interface CommandContext {
  readonly input: StandardInput;
  /** Whether the command always runs, runs on a condition, or is in a pipeline or loop. Limits what it may change. */
  readonly runs: (typeof RUNS)[number];
}

const RUNS = ["once", "conditionally", "apart", "endlessly"] as const;
const TOP_LEVEL: CommandContext = { input: INHERITED, runs: "once" };

class ScriptReader {
  static readonly kept = [
    new ScriptReader("", new WorkBudget()),
    parseSource("A=1 b 'c' *.f $(g) > h | i && j; k <<X\nX\n"),
  ];
  readonly commands: PlainCommand[] = [];
  readonly #source: string;
  readonly #budget: WorkBudget;
  #depth = 0;

  constructor(source: string, budget: WorkBudget) {
    this.#source = source;
    this.#budget = budget;
  }

  read(script: ParsedScript, { dialect, home, folders }: ScriptContext): void {
    if (script.shebang !== undefined) notPlain("a shebang");
    const state: ShellState = {
      dialect,
      expandsBraces: true,
      home,
      folders,
      variables: new Map(),
      budget: this.#budget,
      readSubstitution: ({ commands }, scope) => this.#readStatements(commands, copyOf(scope), TOP_LEVEL),
    };
    this.#readStatements(script.commands, state, TOP_LEVEL);
  }

  #readStatements(statements: readonly Statement[], state: ShellState, context: CommandContext): void {
    this.#depth += 1;
    if (this.#depth > LIMITS.nesting) notPlain("nesting this deep");
    for (const { command, background } of statements) {
      if (background === true && context.runs === "endlessly")
        notPlain("a loop that starts background processes");
      if (background === true) this.#readNode(command, copyOf(state), { ...context, input: INHERITED });
      else this.#readNode(command, state, context);
    }
    this.#depth -= 1;
  }

  #readAndOr({ commands, operators }: AndOr, state: ShellState, context: CommandContext): Folders {
    let all = state.folders;
    let success = all;
    for (const [index, command] of commands.entries()) {
      const isAlternative = operators[index - 1] === "||";
      state.folders = isAlternative ? all : success;
      const own = this.#readNode(command, state, index === 0 ? context : limit(context, "conditionally"));
      success = isAlternative ? union(success, own) : own;
      all = union(state.folders, all);
    }
    state.folders = all;
    return success;
  }

  #readPipeline(node: Pipeline, state: ShellState, context: CommandContext): void {
    const { prefixes, commands, operators } = node;
    const [first] = commands;
    const isTimed = prefixes.some(({ type }) => type === "Time");
    // In dash, `time` is a program, which can run only a simple command.
    if (isTimed && (first?.type !== "Command" || first.name === undefined || first.prefix.length > 0))
      notPlain("time before a compound command");
    if (isTimed && prefixes.length > 1) notPlain("time with a negation");
    // For rules about `time` itself.
    if (isTimed) this.#add({ words: [{ text: "time" }], builtin: { kind: "none" }, text: "time" }, state);
    if (operators.some((operator) => operator !== "|" && operator !== "|&")) notPlain("this pipe");
    if (commands.length === 1 && first !== undefined && !isTimed) this.#readNode(first, state, context);
    else
      for (const [index, command] of commands.entries())
        this.#readNode(command, copyOf(state), { input: index === 0 ? context.input : PIPE, runs: "apart" });
  }

  #readNode(node: PipelineNode | AndOr, state: ShellState, context: CommandContext): Folders {
    switch (node.type) {
      case "Command":
        return this.#readCommand(node, state, context);
      case "AndOr":
        return this.#readAndOr(node, state, context);
      case "Redirected": {
        const { files, input } = readRedirects(node.redirects, state);
        this.#add({ redirects: files, text: this.#textOf(node) }, state);
        return this.#readNode(node.command, state, { ...context, input: input ?? context.input });
      }
      case "Pipeline":
        this.#readPipeline(node, state, context);
        break;
      case "Subshell":
        this.#readStatements(node.body.commands, copyOf(state), { ...TOP_LEVEL, input: context.input });
        break;
      case "BraceGroup":
        this.#readStatements(node.body.commands, state, context);
        break;
      case "If": {
        const branches = [node.then, ...node.elif.flatMap(({ clause, then }) => [clause, then])];
        for (const { commands } of [node.clause, ...branches, ...(node.else ? [node.else] : [])]) {
          // Each branch may start in any of the folders so far: a superset of what is possible.
          const before = state.folders;
          this.#readStatements(commands, state, limit(context, "conditionally"));
          state.folders = union(before, state.folders);
        }
        break;
      }
      case "While":
        this.#readStatements(node.clause.commands, state, limit(context, "apart"));
        this.#readStatements(node.body.commands, state, limit(context, "endlessly"));
        break;
      case "For":
        this.#readFor(node, state, context);
        break;
      case "TestCommand":
        readTest(node.expression, state);
        break;
      default:
        notPlain(`the construct ${node.type}`);
    }
    // A negation swaps the outcomes, so either may follow.
    return state.folders;
  }

  /** Unrolls a loop: its body is read once per value. */
  #readFor({ name, wordlist, body }: For, state: ShellState, context: CommandContext): void {
    if (wordlist === undefined) notPlain("a loop over the arguments of the script");
    if (!isOwnVariable(name.text)) notPlain(`the loop variable ${name.text}`);
    const values = wordlist.flatMap((node) => readWords(node, state));
    for (const value of [...values, ...(withoutBraces(wordlist, state) ?? [])]) {
      this.#count([value]);
      // The words of an unquoted substitution are not known one by one, but each of them is one word.
      state.variables.set(name.text, value.text === undefined ? { text: undefined } : value);
      this.#readStatements(body.commands, state, limit(context, "apart"));
    }
    // Later uses would see the last value, or none if the list turns out to be empty.
    state.variables.delete(name.text);
  }

  #readCommand(node: Command, state: ShellState, context: CommandContext): Folders {
    const environment = node.prefix.flatMap((item) =>
      item.type === "Assignment" ? [readAssignment(item, state)] : [],
    );
    const written = node.name === undefined ? [] : [node.name];
    const words = written.flatMap((name) => readWords(name, state));
    for (const item of node.suffix) {
      if (item.type === "Assignment") words.push(wordOf(readAssignment(item, state)));
      if (item.type !== "Word") continue;
      written.push(item);
      words.push(...readWords(item, state));
    }
    const { files, input } = readRedirects(node.redirects, state);
    const text = this.#textOf(node);
    if (node.name === undefined) {
      this.#count(environment.map(({ value }) => value));
      // A variable that programs might use is judged by the policy.
      const inherited = environment.filter(({ name }) => !isOwnVariable(name));
      this.#add({ environment: inherited, redirects: files, text }, state);
      for (const { name, value } of environment) {
        if (!isOwnVariable(name)) continue;
        // Later it is not known whether an assignment in a condition or loop was executed.
        if (context.runs !== "once") notPlain(`an assignment to ${name} in a condition or loop`);
        state.variables.set(name, value);
      }
      return state.folders;
    }
    const builtin = readBuiltin(words, environment, state.home);
    if (builtin !== undefined && isNotUnderstood(builtin)) notPlain(builtin.problem);
    const others = withoutBraces(written, state);
    const isPlain = builtin === undefined && !node.suffix.some(({ type }) => type === "Assignment");
    if (others !== undefined && !isPlain) notPlain("braces in the arguments of a shell builtin");
    const command = { environment, redirects: files, input: input ?? context.input, text };
    this.#add(
      builtin?.kind === "export"
        ? { ...command, words, builtin, environment: builtin.variables }
        : { ...command, words, builtin },
      state,
    );
    if (others !== undefined) this.#add({ ...command, words: others }, state);
    if (builtin?.kind !== "cd") return state.folders;
    if (limit(context, "apart") === context) notPlain("cd in a pipeline or loop");
    const { text: path = "" } = builtin.path;
    const targets = path.startsWith("/") ? [path] : state.folders.map((folder) => `${folder}/${path}`);
    // Shells resolve `..` textually. The path facts are used later to check that no link makes a difference.
    const success = targets.map((target) => resolvePath("/", target));
    state.folders = union(success, state.folders);
    return success;
  }

  #add(command: Partial<PlainCommand>, { folders }: ShellState): void {
    const { words = [], builtin, environment = [], redirects = [], input = INHERITED, text = "" } = command;
    // A group without redirections, or assignments to the script's own variables.
    if (words.length + environment.length + redirects.length === 0) return;
    this.#count(words);
    if (!this.#budget.spend("commands", 1)) notPlain("a script with this many commands");
    this.commands.push({ words, builtin, environment, redirects, input, text, folders });
  }

  /** Loops multiply the words of their bodies, so the budget limits the expanded words. */
  #count(words: readonly Word[]): void {
    let chars = 0;
    for (const { text } of words) chars += text?.length ?? 0;
    if (!this.#budget.spend("words", words.length) || !this.#budget.spend("expandedChars", chars))
      notPlain("a script this long");
  }

  #textOf({ pos, end }: { readonly pos: number; readonly end: number }): string {
    return this.#source.slice(pos, Math.min(end, pos + 2_000));
  }
}

type Assignment = Extract<Command["prefix"][number], { type: "Assignment" }>;

function readAssignment({ name, value, append, index, text }: Assignment, scope: WordScope): SetVariable {
  if (append === true || index !== undefined || value.type !== "Word") notPlain(`the assignment ${text}`);
  if (value.text === "") return { name, value: { text: "" } };
  // Values are neither split nor expanded to file names.
  return { name, value: { text: readOneWord(value, scope, `the assignment ${text}`).text } };
}

/** `export NAME=value`: an assignment that is an argument. */
function wordOf({ name, value: { text } }: SetVariable): Word {
  return { text: `${name}=${text ?? notPlain(`the assignment to ${name}`)}` };
}

function limit(context: CommandContext, runs: CommandContext["runs"]): CommandContext {
  return RUNS.indexOf(context.runs) < RUNS.indexOf(runs) ? { ...context, runs } : context;
}

function union(one: Folders, other: Folders): Folders {
  if (one === other) return one;
  const all = [...new Set([...one, ...other])];
  return all.length > LIMITS.folders ? notPlain("this many changes of folder") : all;
}
