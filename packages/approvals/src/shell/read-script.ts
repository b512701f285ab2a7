import { retainShape } from "../retain-shape.ts";
import type {
  AndOr,
  Command,
  For,
  ParsedScript,
  Pipeline,
  PipelineNode,
  Redirection,
  Statement,
} from "unbash";
import { isNotUnderstood } from "../programs/declaration/parse-call.ts";
import type { Word } from "../programs/declaration/word.ts";
import { readBuiltin, type SetVariable } from "../programs/shell-builtins.ts";
import { resolvePath } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import {
  NotPlain,
  notPlain,
  INHERITED,
  PIPE,
  type Dialect,
  type PlainCommand,
  type PlainScript,
  type StandardInput,
} from "./plain-script.ts";
import { parseSource } from "./parse-source.ts";
import { readRedirects } from "./read-redirects.ts";
import { readTest } from "./read-test.ts";
import { readOneWord, readWord, type ReadWord, type WordScope } from "./read-word.ts";
import { isOwnVariable } from "../programs/declaration/script-variables.ts";
import { WorkBudget } from "./work-budget.ts";

export interface ScriptContext {
  readonly dialect: Dialect;
  readonly home: string;
  /** The folders that the script may start in. */
  readonly folders: readonly string[];
  /** Shared by all scripts of a request. Default: one of its own. */
  readonly budget?: WorkBudget | undefined;
}

/**
 * Reads a script into its simple commands. Understood are sequences, pipelines, conditions and loops over literal words,
 * with words that are literal after quote removal; everything else makes the whole script not understood. No command of
 * such a script is judged alone: what could not be read might change what the rest does.
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

/** What the shell knows at one point of a script. */
interface ShellState extends WordScope {
  folders: readonly string[];
  readonly variables: Map<string, Word>;
}

/** The state of a subshell: what changes in it does not last. */
function copyOf(state: WordScope): ShellState {
  return { ...state, variables: new Map(state.variables) };
}

/** The folders after a command that succeeded, and after one that failed. */
interface Outcome {
  readonly success: readonly string[];
  readonly failure: readonly string[];
}

/** What surrounds a command. */
interface CommandContext {
  readonly input: StandardInput;
  /** Whether the command may be skipped or repeated, or runs in a shell of its own kind: no state may change here. */
  readonly isConditional: boolean;
  /** Whether a change of folder lasts only for a part of a pipeline, or may be repeated. */
  readonly forbidsCd: boolean;
  /** Whether it may run any number of times. */
  readonly isRepeated?: boolean;
}

const TOP_LEVEL: CommandContext = { input: INHERITED, isConditional: false, forbidsCd: false };

class ScriptReader {
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
      if (background === true && context.isRepeated === true)
        notPlain("a loop that starts background processes");
      if (background === true) this.#readNode(command, copyOf(state), { ...context, input: INHERITED });
      else {
        const { success, failure } = this.#readNode(command, state, context);
        state.folders = union(success, failure);
      }
    }
    this.#depth -= 1;
  }

  #readAndOr({ commands, operators }: AndOr, state: ShellState, context: CommandContext): Outcome {
    let outcome: Outcome = { success: state.folders, failure: [] };
    for (const [index, command] of commands.entries()) {
      const operator = index === 0 ? "&&" : operators[index - 1];
      const folders = operator === "||" ? outcome.failure : outcome.success;
      // A command that no outcome leads to is still read, in every folder that there may be.
      state.folders = folders.length === 0 ? union(outcome.success, outcome.failure) : folders;
      const own = this.#readNode(command, state, index === 0 ? context : { ...context, isConditional: true });
      outcome =
        operator === "||"
          ? { success: union(outcome.success, own.success), failure: own.failure }
          : { success: own.success, failure: union(outcome.failure, own.failure) };
    }
    return outcome;
  }

  #readPipeline(
    { prefixes, commands, operators }: Pipeline,
    state: ShellState,
    context: CommandContext,
  ): Outcome {
    const [first] = commands;
    const isTimed = prefixes.some(({ type }) => type === "Time");
    // To dash, `time` is a program, which can run nothing but a simple command.
    if (isTimed && (first?.type !== "Command" || first.name === undefined || first.prefix.length > 0))
      notPlain("time before a compound command");
    if (isTimed && prefixes.length > 1) notPlain("time with a negation");
    // For rules about `time` itself.
    if (isTimed) this.#add({ words: [{ text: "time" }], builtin: { kind: "none" }, text: "time" }, state);
    if (operators.some((operator) => operator !== "|" && operator !== "|&")) notPlain("this pipe");
    if (commands.length === 1 && first !== undefined && !isTimed)
      return eitherWay(this.#readNode(first, state, context));
    for (const [index, command] of commands.entries()) {
      const input = index === 0 ? context.input : PIPE;
      this.#readNode(command, copyOf(state), { input, isConditional: true, forbidsCd: true });
    }
    return { success: state.folders, failure: state.folders };
  }

  #readNode(node: PipelineNode | AndOr, state: ShellState, context: CommandContext): Outcome {
    switch (node.type) {
      case "Command":
        return this.#readCommand(node, state, context);
      case "AndOr":
        return this.#readAndOr(node, state, context);
      case "Pipeline":
        return this.#readPipeline(node, state, context);
      case "Redirected": {
        const { files, input } = readRedirects(node.redirects, state);
        this.#add({ redirects: files, text: this.#textOf(node) }, state);
        return this.#readNode(node.command, state, { ...context, input: input ?? context.input });
      }
      case "Subshell":
        this.#readStatements(node.body.commands, copyOf(state), { ...TOP_LEVEL, input: context.input });
        return same(state);
      case "BraceGroup":
        this.#readStatements(node.body.commands, state, context);
        return same(state);
      case "If": {
        const branches = [node.then, ...node.elif.flatMap(({ clause, then }) => [clause, then])];
        for (const { commands } of [node.clause, ...branches, ...(node.else ? [node.else] : [])]) {
          // Each branch may start in any of the folders so far: a superset of what is possible.
          const before = state.folders;
          this.#readStatements(commands, state, { ...context, isConditional: true });
          state.folders = union(before, state.folders);
        }
        return same(state);
      }
      case "While":
        this.#readStatements(node.clause.commands, state, repeated(context));
        this.#readStatements(node.body.commands, state, { ...repeated(context), isRepeated: true });
        return same(state);
      case "For":
        return this.#readFor(node, state, context);
      case "TestCommand":
        readTest(node.expression, state);
        return same(state);
      default:
        return notPlain(`the construct ${node.type}`);
    }
  }

  /** Unrolls a loop: its body is read once per value. */
  #readFor({ name, wordlist, body }: For, state: ShellState, context: CommandContext): Outcome {
    if (wordlist === undefined) notPlain("a loop over the arguments of the script");
    if (!isOwnVariable(name.text)) notPlain(`the loop variable ${name.text}`);
    const values = wordlist.flatMap((node) => {
      const word = readWord(node, state);
      return word.expanded === undefined ? [word] : [...word.expanded, word];
    });
    for (const value of values) {
      this.#count([value]);
      // The words of an unquoted substitution are not known one by one, but each of them is one word.
      state.variables.set(name.text, value.text === undefined ? { text: undefined } : value);
      this.#readStatements(body.commands, state, repeated(context));
    }
    // Later uses would see the last value, or none if the list turns out to be empty.
    state.variables.delete(name.text);
    return same(state);
  }

  #readCommand(node: Command, state: ShellState, context: CommandContext): Outcome {
    const environment: SetVariable[] = [];
    const redirections: Redirection[] = [];
    for (const item of node.prefix) {
      if (item.type === "Assignment") environment.push(readAssignment(item, state));
      else redirections.push(item);
    }
    const written: ReadWord[] = node.name === undefined ? [] : [readWord(node.name, state)];
    for (const item of node.suffix) {
      if (item.type === "Word") written.push(readWord(item, state));
      else if (item.type === "Assignment") written.push(wordOf(readAssignment(item, state)));
      else redirections.push(item);
    }
    const { files, input } = readRedirects(redirections, state);
    const text = this.#textOf(node);
    if (node.name === undefined) {
      this.#count(environment.map(({ value }) => value));
      // A name that programs might know is judged by the policy.
      const inherited = environment.filter(({ name }) => !isOwnVariable(name));
      this.#add({ environment: inherited, redirects: files, text }, state);
      for (const { name, value } of environment) {
        if (!isOwnVariable(name)) continue;
        // Whether an assignment in a condition or loop has happened is not known later on.
        if (context.isConditional || context.forbidsCd)
          notPlain(`an assignment to ${name} in a condition or loop`);
        state.variables.set(name, value);
      }
      return same(state);
    }
    const hasBraces = written.some(({ expanded }) => expanded !== undefined);
    const words = hasBraces ? written.flatMap((word): readonly Word[] => word.expanded ?? [word]) : written;
    const builtin = readBuiltin(words, environment, state.home);
    if (builtin !== undefined && isNotUnderstood(builtin)) notPlain(builtin.problem);
    if (builtin !== undefined && hasBraces) notPlain("braces in the arguments of a shell builtin");
    this.#add(
      {
        words,
        wordsWithoutBraces: hasBraces ? written : undefined,
        builtin,
        environment: builtin?.kind === "export" ? builtin.variables : environment,
        redirects: files,
        input: input ?? context.input,
        text,
      },
      state,
    );
    if (builtin?.kind !== "cd") return same(state);
    if (context.forbidsCd) notPlain("cd in a pipeline or loop");
    const { text: path = "" } = builtin.path;
    const targets = path.startsWith("/") ? [path] : state.folders.map((folder) => `${folder}/${path}`);
    // Shells resolve `..` by its text. Whether links agree is checked with the path facts.
    return { success: targets.map((target) => resolvePath("/", target)), failure: state.folders };
  }

  #add(
    {
      words = [],
      wordsWithoutBraces,
      builtin,
      environment = [],
      redirects = [],
      input = INHERITED,
      text = "",
    }: Partial<PlainCommand>,
    { folders }: ShellState,
  ): void {
    const isEmpty = words.length + environment.length + redirects.length === 0;
    // A group without redirections, or assignments to the script's own variables.
    if (isEmpty && wordsWithoutBraces === undefined) return;
    this.#count(words);
    if (!this.#budget.spend("commands", 1)) notPlain("a script with this many commands");
    this.commands.push({ words, wordsWithoutBraces, builtin, environment, redirects, input, text, folders });
  }

  /** Loops multiply the words of their bodies: the budget is on what they expand to. */
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

function repeated(context: CommandContext): CommandContext {
  return { ...context, isConditional: true, forbidsCd: true };
}

function same({ folders }: ShellState): Outcome {
  return { success: folders, failure: folders };
}

/** A negation swaps the outcomes, so that both may follow either. */
function eitherWay({ success, failure }: Outcome): Outcome {
  const both = union(success, failure);
  return { success: both, failure: both };
}

function union(one: readonly string[], other: readonly string[]): readonly string[] {
  if (one === other) return one;
  const all = [...new Set([...one, ...other])];
  return all.length > LIMITS.folders ? notPlain("this many changes of folder") : all;
}

retainShape(new ScriptReader("", new WorkBudget()));
