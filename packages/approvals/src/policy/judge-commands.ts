import { resolvePath } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import { callByPath, findProgram, nameOfProgram } from "../programs/find-program.ts";
import { runsCode } from "../programs/declaration/effect.ts";
import { environmentEffects } from "../programs/declaration/environment.ts";
import { isNotUnderstood, parseCall } from "../programs/declaration/parse-call.ts";
import type { NotUnderstood, ParsedCall } from "../programs/declaration/parsed-call.ts";
import type { Word } from "../programs/declaration/word.ts";
import { treeReadingOf } from "../programs/tree-readers.ts";
import type { PlainCommand } from "../shell/plain-script.ts";
import { changesShell } from "../programs/shell-builtins.ts";
import { readScript } from "../shell/read-script.ts";
import {
  defaultVerdict,
  isBinding,
  notUnderstoodVerdict,
  pickStricter,
  refusal,
  type CommandVerdict,
  type Verdict,
} from "./evaluation.ts";
import { EffectJudge, NO_EFFECT, type InnerEffect } from "./judge-effect.ts";
import { judgeKind, type JudgeContext } from "./judge-path.ts";
import { judgeByRules, judgeCode, toCalledWords, type CalledWords } from "./match-command.ts";

interface Call extends Pick<PlainCommand, "words" | "input"> {
  readonly folder: string;
  readonly index: number;
  readonly depth: number;
}

const RAW_CONNECTION = refusal("reverse-shell", "opens a raw connection");

/** Judges the commands of an understood script by their effects. One instance per request, because it tracks changes. */
export class CommandJudge {
  static kept: CommandJudge | undefined;
  readonly verdicts: CommandVerdict[] = [];
  readonly calls: CalledWords[] = [];
  /** Whether a call is not understood, and no rule allows it. */
  hasUnknown = false;
  /** The first verdict of one of the user's deny rules. */
  denied: Verdict | undefined;
  readonly #context: JudgeContext;
  readonly #workspace: JudgeContext["workspace"];
  readonly #policy: JudgeContext["policy"];
  readonly #effects: EffectJudge;

  constructor(context: JudgeContext) {
    CommandJudge.kept = this;
    this.#context = context;
    this.#workspace = context.workspace;
    this.#policy = context.policy;
    this.#effects = new EffectJudge(context);
  }

  /** @returns the strictest verdict, or undefined if there is no command. */
  judge(commands: readonly PlainCommand[], parent = -1, depth = 0): Verdict | undefined {
    let worst: Verdict | undefined;
    for (const command of commands) worst = pickStricter(worst, this.#judgeCommand(command, parent, depth));
    return worst;
  }

  #judgeCommand(command: PlainCommand, parent: number, depth: number): Verdict {
    const index = this.verdicts.push(RESERVED) - 1;
    const { words, builtin, environment, redirects, folders, input, text } = command;
    let worst: Verdict | undefined;
    const first = this.calls.length;
    this.#effects.output.input = input;
    for (const folder of folders) {
      const call: Call = { words, folder, input, index, depth };
      if (environment.length + redirects.length > 0)
        worst = pickStricter(worst, this.#judgeShellParts(command, folder));
      if (builtin !== undefined) worst = pickStricter(worst, this.#judgeBuiltin(builtin, call));
      else if (words.length > 0) worst = pickStricter(worst, this.#judgeCall(call));
    }
    this.#effects.output.add(command, this.calls[first]?.call);
    return this.#fill(index, worst ?? NO_EFFECT, text, parent);
  }

  /** Judges redirections and variables, even if a rule allows the command. */
  #judgeShellParts({ environment, redirects }: PlainCommand, folder: string): Verdict | undefined {
    let worst: Verdict | undefined;
    for (const { name, value } of environment) {
      const effects = environmentEffects(name, value);
      if (isNotUnderstood(effects)) worst = pickStricter(worst, this.#notUnderstood(effects.problem));
      else for (const effect of effects) worst = pickStricter(worst, this.#effects.judge(effect, folder));
    }
    for (const redirect of redirects) {
      // bash opens a connection for these names; other devices may be anything.
      const isConnection = /^\/dev\/(?:tcp|udp)\//.test(redirect.path.text ?? "");
      worst = pickStricter(worst, isConnection ? RAW_CONNECTION : this.#effects.judge(redirect, folder));
      if (redirect.kind === "write") this.#effects.changes.hasWritten = true;
    }
    return worst;
  }

  #judgeBuiltin(builtin: NonNullable<PlainCommand["builtin"]>, call: Call): Verdict {
    const { folder } = call;
    const ruled = this.#judgeByRules(call.words, undefined);
    if (ruled !== undefined && ruled.decision !== "allow") return ruled;
    if (builtin.kind === "source")
      return this.#effects.judge({ kind: "execute", path: builtin.path }, folder);
    if (builtin.kind !== "cd") return NO_EFFECT;
    const { text: path = "" } = builtin.path;
    const absolute = this.#workspace.absolute(path, folder);
    const { real } = this.#workspace.locate(absolute);
    const logical = this.#workspace.locate(resolvePath("/", absolute)).real;
    // Shells resolve `..` in cd textually, and fall back to the file system. Both must give the same folder.
    if (path.split("/").includes("..") && (logical === undefined || logical !== real))
      return this.#notUnderstood(`cd ${path}: a link makes its target ambiguous`);
    return this.#effects.judge({ kind: "enter", path: builtin.path }, folder);
  }

  #judgeCall(call: Call): Verdict {
    const parsed = this.#parse(call);
    const isUnknown = isNotUnderstood(parsed);
    const ruled = this.#judgeByRules(call.words, isUnknown ? undefined : parsed);
    if (isUnknown && ruled?.decision !== "allow") this.hasUnknown = true;
    if (ruled !== undefined && ruled.decision !== "allow") return ruled;
    if (isUnknown)
      return ruled === undefined ? this.#notUnderstood(parsed.problem) : this.#judgeAllowedWords(ruled, call);
    const worst = this.#judgeParsed(parsed, call, ruled) ?? judgeKind("read", this.#policy);
    return ruled === undefined && worst.decision === "allow" && this.#policy.exclusive.command
      ? defaultVerdict(this.#policy.policy.default, true, "")
      : worst;
  }

  /**
   * Judges a call that a rule allows and whose effects are not known. Each of its words may be a path or an address, so denials
   * apply to all of them. A path that must never be written is asked about, because the call may only read it.
   */
  #judgeAllowedWords(allowed: Verdict, { words, folder }: Call): Verdict {
    let worst = allowed;
    for (const word of words.slice(1).flatMap(argumentParts)) {
      const read = this.#effects.judge({ kind: "read", path: word }, folder);
      const write = this.#effects.judge({ kind: "write", path: word }, folder);
      const isRefused = write.rule.startsWith("safety/");
      const verdicts = [read, isRefused ? this.#notUnderstood(write.reason) : write];
      if (word.text?.includes("://") === true)
        verdicts.push(this.#effects.judge({ kind: "connect", target: word, sends: true }, folder));
      for (const verdict of verdicts)
        if (isBinding(verdict, this.#policy) || verdict.rule === "not-understood")
          worst = pickStricter(worst, verdict);
    }
    return worst;
  }

  #judgeByRules(words: readonly Word[], call: ParsedCall | undefined): Verdict | undefined {
    const texts = words.map(({ text }) => text);
    const called = toCalledWords(texts, call, this.#context);
    this.calls.push(called);
    const ruled = judgeByRules(called, this.#context);
    if (ruled?.decision === "deny" && ruled.matched !== undefined) this.denied ??= ruled;
    return ruled;
  }

  #parse({ words, folder, depth }: Call): ParsedCall | NotUnderstood {
    const [first] = words;
    if (depth > LIMITS.nesting) return { problem: "commands are nested too deeply" };
    if (first?.text === undefined || first.isGlob === true || first.text === "")
      return { problem: "the name of the program is only known at run time" };
    const args = words.slice(1);
    const name = nameOfProgram(first.text);
    if (changesShell(name)) return { problem: `${name} changes the shell` };
    if (name.includes("/")) return callByPath(first, args);
    const program = findProgram(name);
    if (program === undefined) return { problem: `the program ${name} is not declared` };
    if (
      program.examine !== undefined &&
      !args.every(
        ({ text = "" }) =>
          text.length <= LIMITS.argumentChars && this.#context.budget.spend("examinedChars", text.length),
      )
    )
      return { problem: `the arguments of ${name} are too long to judge` };
    // An earlier command of the script may have created more matches.
    if (this.#effects.changes.hasWritten || !args.some(({ isGlob }) => isGlob === true))
      return parseCall(program, args);
    const withMatches = args.map((word) => {
      const isPattern = word.isGlob === true && word.text !== undefined;
      return isPattern ? { ...word, matches: this.#workspace.matchesOf(word.text, folder) } : word;
    });
    return parseCall(program, withMatches);
  }

  #judgeParsed(parsed: ParsedCall, outer: Call, ruled: Verdict | undefined): Verdict | undefined {
    const { effects, path } = parsed;
    let worst = ruled;
    let { folder } = outer;
    for (const effect of effects) {
      if (effect.kind !== "enter") continue;
      worst = pickStricter(worst, this.#effects.judge(effect, folder));
      folder = this.#workspace.absolute(effect.path.text ?? "", folder);
    }
    const call: Call = folder === outer.folder ? outer : { ...outer, folder };
    if (runsCode(effects) && call.words.some(({ text }) => isStandardInput(text)))
      worst = pickStricter(worst, this.#judgeStandardInput(call));
    for (const effect of effects) {
      if (effect.kind === "enter") continue;
      if (effect.kind === "execute" && isStandardInput(effect.path.text)) continue;
      if (effect.kind === "command" || effect.kind === "shell" || effect.kind === "stdin-code")
        worst = pickStricter(worst, this.#judgeInner(effect, call));
      else {
        const verdict = this.#effects.judge(effect, call.folder);
        // A rule that allows a command answers questions about it, except about code in its arguments.
        if (ruled === undefined || effect.kind === "inline-code" || isBinding(verdict, this.#policy))
          worst = pickStricter(worst, verdict);
      }
    }
    if (path[0] === "git") worst = pickStricter(worst, this.#findForeignRepository(call.folder));
    const reading = treeReadingOf(parsed);
    if (reading !== undefined) {
      const read = effects.flatMap((effect) => (effect.kind === "read" ? [effect.path] : []));
      for (const tree of read.length === 0 ? [{ text: "." }] : read) {
        const verdict = this.#effects.judgeTree(tree, call.folder, reading);
        if (ruled === undefined || isBinding(verdict, this.#policy)) worst = pickStricter(worst, verdict);
      }
    }
    this.#effects.changes.record(effects, call.folder);
    return pickStricter(worst, this.#judgeNamedPaths(parsed, call.folder));
  }

  /** Applies the user's path rules to every operand of git and of developer tools that could name a file. */
  #judgeNamedPaths({ path, effects, operands }: ParsedCall, folder: string): Verdict | undefined {
    if (!this.#policy.hasPathRules) return undefined;
    if (path[0] !== "git" && !effects.some(({ kind }) => kind === "action")) return undefined;
    return operands
      .flatMap(argumentParts)
      .map((word) => this.#effects.judge({ kind: "read", path: word }, folder))
      .filter(({ matched, decision }) => matched !== undefined && decision !== "allow")
      .reduce<Verdict | undefined>(pickStricter, undefined);
  }

  /**
   * git runs programs that a repository's configuration names. `.git` is protected, but a folder below a root may be a bare
   * repository that the agent wrote: git in such a folder runs project code.
   */
  #findForeignRepository(folder: string): Verdict | undefined {
    const found = this.#workspace.belowRoots(folder).find((path) => {
      const heads = this.#effects.changes.hasWritten ? null : this.#workspace.candidatesOf(`${path}/HEA?`);
      return heads !== undefined && heads?.length !== 0;
    });
    const reason = `git may run programs that ${found} configures`;
    return found === undefined ? undefined : judgeKind("project-code", this.#policy, reason);
  }

  /** Judges a command that another command runs like a command of the script. */
  #judgeInner(effect: InnerEffect, call: Call): Verdict {
    if (effect.kind === "command") {
      const isNumber =
        call.input.kind === "pipe" && this.#effects.output.ofAll(this.#workspace) === "numbers";
      const withNumbers = (word: Word): Word => ({ ...word, isNumber: word.isInput });
      const words = isNumber ? effect.words.map(withNumbers) : effect.words;
      const index = this.verdicts.push(RESERVED) - 1;
      const verdict = this.#judgeCall({ ...call, words, index, depth: call.depth + 1 });
      return this.#fill(index, verdict, words.map(({ text }) => text ?? "…").join(" "), call.index);
    }
    if (effect.kind === "shell") return this.#judgeScript(effect.script.text, call);
    const { input } = call;
    if (input.kind === "file") return this.#effects.judge({ kind: "execute", path: input.path }, call.folder);
    if (input.kind !== "text" || input.text === undefined)
      return this.#notUnderstood("an interpreter runs what is piped or typed into it");
    return effect.language === "shell" ? this.#judgeScript(input.text, call) : this.#judgeStandardInput(call);
  }

  /** Judges `make -f -` and `python -`. Code that is only in the script itself counts as project code. */
  #judgeStandardInput({ input }: Call): Verdict {
    if (input.kind !== "text" || input.text === undefined)
      return this.#notUnderstood("a program runs what is piped or typed into it");
    const ruled = judgeCode(input.text, this.#context);
    if (ruled?.decision === "deny") this.denied ??= ruled;
    return pickStricter(ruled, judgeKind("project-code", this.#policy));
  }

  #judgeScript(source: string | undefined, call: Call): Verdict {
    if (source === undefined) return this.#notUnderstood("a script is only known at run time");
    if (call.depth >= LIMITS.nesting) return this.#notUnderstood("scripts are nested too deeply");
    const context = { home: this.#workspace.home, folders: [call.folder], budget: this.#context.budget };
    const { commands, problem } = readScript(source, { dialect: "unknown", ...context });
    const worst = this.judge(commands, call.index, call.depth + 1);
    if (problem === undefined) return worst ?? NO_EFFECT;
    return pickStricter(worst, this.#notUnderstood(problem));
  }

  #notUnderstood(problem: string): Verdict {
    return notUnderstoodVerdict(problem, this.#policy);
  }

  #fill(index: number, verdict: Verdict, command: string, parent: number): Verdict {
    const { decision, reason, rule, matched } = verdict;
    this.verdicts[index] = { decision, reason, rule, matched, command, parent };
    return verdict;
  }
}

/** Reserves the position of a verdict. Those of inner commands are known earlier, but listed after it. */
const RESERVED: CommandVerdict = { ...NO_EFFECT, command: "", parent: -1 };

function isStandardInput(text: string | undefined): boolean {
  return text !== undefined && /(?:^|=)(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/.test(text);
}

/** An argument, and its part after `=` or a colon: `--output=FILE`, `HEAD:FILE`. */
function argumentParts({ text, isGlob }: Word): readonly Word[] {
  if (text === undefined) return [];
  const starts = [0, ...["=", ":"].map((separator) => text.indexOf(separator) + 1).filter((at) => at > 0)];
  return starts.map((at) => ({ text: text.slice(at), isGlob }));
}
