import { declareProgram, type ProgramDeclaration } from "./declaration.ts";
import { action, type Action, type Effect } from "./effect.ts";
import type { NotUnderstood, ParsedCall } from "./parsed-call.ts";

export interface DeveloperTool {
  readonly names: readonly string[];
  /**
   * The actions of each verb. A verb of two words (`config get`) takes precedence over its first word. Undefined: there are no
   * verbs.
   */
  readonly verbs?: Readonly<Record<string, readonly Action[]>> | undefined;
  /** The actions of an unlisted verb and of a call without a verb. Undefined: not understood. */
  readonly otherwise?: readonly Action[] | undefined;
  /** Further actions of a call with one of these words: `--global` installs for the whole machine. */
  readonly words?: Readonly<Record<string, readonly Action[]>> | undefined;
  /** Options that run any program or command line. A call with one, before `--`, is not understood. */
  readonly rejects?: readonly string[] | undefined;
  /**
   * Words that, as the only argument, make the tool print about itself and do nothing else. Default: `--help` and `--version`.
   * Empty for tools that even then load project code or fetch another version of themselves.
   */
  readonly prints?: readonly string[] | undefined;
  /** Set if everything from the first operand on belongs to another program (`npx jest -c x`). */
  readonly passesOperands?: boolean | undefined;
  /** What may precede the verb: options without an argument, options with one, and words like `+nightly` of cargo. */
  readonly beforeVerb?:
    | { readonly flags?: readonly string[]; readonly values?: readonly string[]; readonly words?: RegExp }
    | undefined;
}

/**
 * Declares a tool that runs code of the project or its packages: a build tool, a test runner, a package manager. Its options need
 * no declaration, because that code could do whatever they do. Two exceptions are judged: paths that lead out of the current
 * folder, as if they were written to, and addresses.
 */
export function developerTool(tool: DeveloperTool): ProgramDeclaration {
  return declareProgram({
    names: tool.names,
    operands: { rest: "data", acceptsAnyWord: true },
    examine: (call) => examineTool(tool, call),
  });
}

const PRINTS: readonly string[] = ["--help", "--version"];
/** If such a word does more than print, it runs what the tool runs anyway: a target of that name, or plug-ins. */
const MAY_PRINT = new Set(["--help", "--version", "-V", "-h", "-v", "help", "version"]);

function examineTool(tool: DeveloperTool, { operands }: ParsedCall): readonly Effect[] | string {
  const texts = operands.map(({ text }) => text);
  const [first] = texts;
  if (texts.length === 1 && first !== undefined && (tool.prints ?? PRINTS).includes(first)) return [];
  if (texts.length === 1 && first !== undefined && MAY_PRINT.has(first) && !isVerb(tool, first))
    return [action("project-code")];
  const verb = tool.verbs === undefined ? undefined : findVerb(tool, texts);
  if (verb !== undefined && typeof verb !== "string") return verb.problem;
  const known = verb !== undefined && tool.verbs !== undefined && Object.hasOwn(tool.verbs, verb);
  const actions = known ? tool.verbs[verb] : tool.otherwise;
  if (actions === undefined)
    return verb === undefined ? "has no subcommand" : `has no declared subcommand "${verb}"`;
  const rejected = findRejected(tool, texts);
  if (rejected !== undefined) return `option ${rejected} runs a command that is not judged`;
  const effects: Effect[] = actions.map(action);
  for (const [index, text] of texts.entries()) {
    // Text that is known only at run time comes from the project, and can do no more than the project's code.
    if (text === undefined) continue;
    for (const [word, further] of Object.entries(tool.words ?? {}))
      if (isWord(word, text, texts[index - 1])) effects.push(...further.map(action));
    effects.push(...reachOf(text, texts[index - 1]));
  }
  return effects;
}

function isVerb({ verbs = {} }: DeveloperTool, text: string): boolean {
  return Object.hasOwn(verbs, text);
}

/** The first word that is not an option. An unknown option might use the word as its argument. */
function findVerb(
  { verbs = {}, beforeVerb = {} }: DeveloperTool,
  texts: readonly (string | undefined)[],
): string | NotUnderstood | undefined {
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at];
    if (text === undefined) return { problem: "the subcommand is only known at run time" };
    if (beforeVerb.values?.includes(text) === true) at += 1;
    else if (text.startsWith("-")) {
      const name = text.split("=", 1)[0] ?? "";
      const isKnown = beforeVerb.flags?.includes(text) === true || beforeVerb.values?.includes(name) === true;
      if (!isKnown) return { problem: `option ${text} before the subcommand is not declared` };
    } else if (beforeVerb.words?.test(text) !== true) {
      const pair = `${text} ${texts[at + 1]}`;
      return Object.hasOwn(verbs, pair) ? pair : text;
    }
  }
  return undefined;
}

function findRejected(
  { rejects = [], passesOperands }: DeveloperTool,
  texts: readonly (string | undefined)[],
): string | undefined {
  const end = texts.findIndex(
    (text) => text === "--" || (passesOperands === true && text?.startsWith("-") === false),
  );
  const own = end === -1 ? texts : texts.slice(0, end);
  return rejects.find((option) => own.some((text) => text !== undefined && isSpellingOf(option, text)));
}

/**
 * Matches `-g` also in a short cluster, `--global` abbreviated, and `--location=global` as two words. A longer word with one dash
 * is not a cluster, but an option with a long name (`-gcflags=x`).
 */
function isWord(word: string, text: string, previous: string | undefined): boolean {
  if (text === word) return true;
  const [name = "", setTo] = word.split("=");
  if (setTo === undefined) return /^-[^=]{1,7}(?:=|$)/.test(text) && isSpellingOf(word, text);
  const [given = "", value = text] = text.includes("=") ? text.split("=") : [previous ?? ""];
  return value === setTo && given.length > 2 && name.startsWith(given);
}

/** Matches `--call`, `--call=x`, the abbreviation `--cal`, and for `-c` every cluster with that letter. */
function isSpellingOf(option: string, text: string): boolean {
  const [name = ""] = text.split("=", 1);
  if (!option.startsWith("--")) return /^-\w+$/.test(name) && name.includes(option.slice(1));
  return name.length > 2 && option.startsWith(name);
}

/** Options whose paths are only written to. */
const OUTPUT =
  /^-o$|^--?(?:out|base-?temp|[\w-]*(?:cache|coverage|destination|junit|log|output|report|temp|tmp))[\w-]*$/i;

/**
 * A path that leads out of the folder, or an address, in a word or after its `=`. Code may be loaded from such a path unless its
 * option says that it is an output.
 */
function reachOf(word: string, previous: string | undefined): readonly Effect[] {
  if (!/[/~:@]|\.\./.test(word)) return [];
  if (word.includes("://")) {
    const [text] = /(?<![a-z0-9+])[a-z][a-z0-9+]*:\/\/\S*/i.exec(word.replace(/^-[A-Za-z]/, "")) ?? [word];
    return [{ kind: "connect", target: { text }, sends: false }];
  }
  const value = word
    .replace(/^[-\w.]*=/, "")
    .replace(/^-[A-Za-z](?=[/~])/, "")
    // `name@file:/folder` is a package in a folder.
    .replace(/^(?:(?:@[\w.-]+\/)?[\w.-]+@)?(?:file|link|portal):|^(?:@[\w.-]+\/)?[\w.-]+@(?=[/~])/, "");
  if (/^\/\/|^git@|^github:|^gitlab:|^bitbucket:/.test(value))
    return [{ kind: "connect", target: { text: value }, sends: false }];
  const leadsOut = value.startsWith("/") || value.startsWith("~") || value.split("/").includes("..");
  if (!leadsOut) return [];
  const path = { text: value };
  const option =
    value === word ? (previous ?? "") : word.slice(0, word.length - value.length).replace("=", "");
  if (option.length < 100 && OUTPUT.test(option)) return [{ kind: "write", path }];
  return [
    { kind: "write", path },
    { kind: "execute", path },
  ];
}
