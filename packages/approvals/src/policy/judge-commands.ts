import { environmentEffects } from "../declaration/environment.ts";
import type { Effect } from "../declaration/effect.ts";
import { isNotUnderstood, parseCall } from "../declaration/parse-call.ts";
import type { NotUnderstood, ParsedCall } from "../declaration/parsed-call.ts";
import type { Word } from "../declaration/word.ts";
import { isInside } from "../files/path.ts";
import type { Location, Places } from "../files/places.ts";
import { LIMITS } from "../limits.ts";
import { readEndpoint } from "../network/endpoint.ts";
import { findProgram } from "../programs/all-programs.ts";
import type { PlainCommand, StandardInput } from "../shell/plain-script.ts";
import { changesShell } from "../shell/read-builtin.ts";
import { readScript } from "../shell/read-script.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import { evaluateEndpoint } from "./evaluate-network.ts";
import { notUnderstoodVerdict, strictest, type CommandVerdict, type Verdict } from "./evaluation.ts";
import { judgeKind, judgeRead, judgeWrite } from "./judge-path.ts";
import { judgeByRules, type CalledWords } from "./match-command.ts";

/** A path where a link may now be, or below which links may be. */
interface Relinked {
  readonly path: string;
  readonly isLink: boolean;
}

/** A program call in its folder. */
interface Call {
  readonly words: readonly Word[];
  readonly folder: string;
  readonly input: StandardInput;
  readonly text: string;
  /** The index of the command that runs it, or -1. */
  readonly parent: number;
  readonly depth: number;
}

const NOTHING: Verdict = { decision: "allow", rule: "nothing", reason: "has no effect" };

/** Judges the commands of an understood script by their effects. One instance per request: it remembers what changed. */
export class CommandJudge {
  readonly verdicts: CommandVerdict[] = [];
  /** Every call, for the denials. */
  readonly calls: CalledWords[] = [];
  readonly #places: Places;
  readonly #policy: CompiledPolicy;
  /** Where earlier commands may have put links: what was looked up about paths below no longer holds. */
  readonly #relinked: Relinked[] = [];
  /** Whether an earlier command may have created files: what patterns matched may have changed. */
  #hasWritten = false;

  constructor(places: Places, policy: CompiledPolicy) {
    this.#places = places;
    this.#policy = policy;
  }

  judge(commands: readonly PlainCommand[], parent = -1, depth = 0): void {
    for (const command of commands) this.#judgeCommand(command, parent, depth);
  }

  #judgeCommand(command: PlainCommand, parent: number, depth: number): void {
    const at = this.#reserve(command.text, parent);
    const verdicts: Verdict[] = [];
    for (const folder of command.folders) {
      const readings =
        command.wordsWithoutBraces === undefined
          ? [command.words]
          : [command.words, command.wordsWithoutBraces];
      for (const words of readings) {
        const call: Call = { words, folder, input: command.input, text: command.text, parent: at, depth };
        verdicts.push(...this.#judgeShellParts(command, call));
        if (command.builtin !== undefined) verdicts.push(...this.#judgeBuiltin(command, call));
        else if (words.length > 0) verdicts.push(this.#judgeCall(call, at));
      }
    }
    this.#fill(at, strictest(verdicts) ?? NOTHING);
  }

  /** Redirections and variables: judged also where a rule allows the command. */
  #judgeShellParts({ environment, redirects }: PlainCommand, call: Call): Verdict[] {
    const verdicts: Verdict[] = [];
    for (const { name, value } of environment) {
      const effects = environmentEffects(name, value);
      if (isNotUnderstood(effects)) verdicts.push(this.#notUnderstood(effects));
      else verdicts.push(...effects.map((effect) => this.#judgeEffect(effect, call)));
    }
    for (const { kind, path } of redirects) {
      // bash opens a connection for these names; other devices may be anything.
      if (/^\/dev\/(?:tcp|udp)\//.test(path.text ?? ""))
        verdicts.push({ decision: "deny", rule: "safety/reverse-shell", reason: "opens a raw connection" });
      else verdicts.push(this.#judgeEffect({ kind, path }, call));
      if (kind === "write") this.#hasWritten = true;
    }
    return verdicts;
  }

  #judgeBuiltin({ builtin }: PlainCommand, call: Call): Verdict[] {
    if (builtin === undefined || builtin.kind === "none") return [];
    this.calls.push({ words: call.words.map(({ text }) => text), call: undefined, text: call.text });
    if (builtin.kind === "source") return [this.#judgeEffect({ kind: "execute", path: builtin.path }, call)];
    return [this.#judgeCd(builtin.path.text ?? "", call)];
  }

  /** Shells resolve `..` in cd by its text, and fall back to the file system: both must lead to the same folder. */
  #judgeCd(path: string, call: Call): Verdict {
    const absolute = this.#places.absolute(path, call.folder);
    const { real } = this.#places.locate(absolute);
    if (path.split("/").includes("..")) {
      const logical = this.#places.locate(normalize(absolute)).real;
      if (logical === undefined || logical !== real)
        return this.#notUnderstood({ problem: `cd ${path}: a link makes its target ambiguous` });
    }
    return this.#judgeEffect({ kind: "enter", path: { text: path } }, call);
  }

  #judgeCall(call: Call, at: number): Verdict {
    const parsed = this.#parse(call);
    const called: CalledWords = {
      words: call.words.map(({ text }) => text),
      call: isNotUnderstood(parsed) ? undefined : parsed,
      text: call.text,
    };
    this.calls.push(called);
    const ruled = judgeByRules(called, this.#policy);
    if (ruled !== undefined && ruled.decision !== "allow") return ruled;
    if (isNotUnderstood(parsed)) return ruled ?? this.#notUnderstood(parsed);
    const verdicts = this.#judgeEffects(parsed.effects, call, at, ruled, parsed.path[0] === "git");
    const worst = strictest(verdicts) ?? judgeKind("read", this.#policy);
    if (ruled === undefined && worst.decision === "allow" && this.#policy.exclusive.command)
      return {
        decision: this.#policy.policy.default === "ask" ? "ask" : "deny",
        rule: "allow",
        reason: "not in the allow list",
      };
    return worst;
  }

  #parse({ words, folder, depth }: Call): ParsedCall | NotUnderstood {
    const [first, ...args] = words;
    if (depth > LIMITS.nesting) return { problem: "commands are nested too deeply" };
    if (first?.text === undefined || first.isGlob === true || first.text === "")
      return { problem: "the name of the program is only known at run time" };
    const name = programName(first.text);
    if (changesShell(name)) return { problem: `${name} changes the shell` };
    const program = findProgram(name);
    if (name.includes("/")) return executeCall(first, args);
    if (program === undefined) return { problem: `the program ${name} is not declared` };
    if (program.examine !== undefined && args.some(({ text }) => (text?.length ?? 0) > LIMITS.argumentChars))
      return { problem: `an argument of ${name} is too long to judge` };
    return parseCall(
      program,
      args.map((word) => this.#withMatches(word, folder)),
    );
  }

  #withMatches(word: Word, folder: string): Word {
    if (word.isGlob !== true || word.text === undefined) return word;
    // An earlier command of the script may have created more.
    const matches = this.#hasWritten ? undefined : this.#places.matchesOf(word.text, folder);
    return matches === undefined ? word : { ...word, matches };
  }

  #judgeEffects(
    effects: readonly Effect[],
    outer: Call,
    at: number,
    ruled: Verdict | undefined,
    isGit: boolean,
  ): Verdict[] {
    const verdicts: Verdict[] = ruled === undefined ? [] : [ruled];
    let { folder } = outer;
    for (const effect of effects) {
      if (effect.kind !== "enter") continue;
      verdicts.push(this.#judgeEffect(effect, { ...outer, folder }));
      folder = this.#places.absolute(effect.path.text ?? "", folder);
    }
    const call: Call = { ...outer, folder };
    if (runsStandardInput(effects, call)) verdicts.push(this.#judgeStandardInput(call));
    for (const effect of effects) {
      if (effect.kind === "enter") continue;
      if (effect.kind === "execute" && isStandardInput(effect.path.text)) continue;
      if (effect.kind === "command" || effect.kind === "shell" || effect.kind === "stdin-code")
        verdicts.push(this.#judgeInner(effect, call, at));
      // A rule that allows a command speaks for what the command itself does, but never for code in its arguments.
      else if (ruled === undefined || effect.kind === "inline-code")
        verdicts.push(this.#judgeEffect(effect, call));
    }
    if (isGit) verdicts.push(...this.#judgeRepository(call.folder));
    this.#recordChanges(effects, call);
    return verdicts;
  }

  /**
   * git runs programs that the configuration of a repository names. `.git` is protected, but a folder below a root may be a
   * bare repository that the agent wrote: git in such a folder runs code of the project.
   */
  #judgeRepository(folder: string): Verdict[] {
    if (!this.#places.hasFacts) return [];
    for (const path of this.#places.belowRoots(folder)) {
      const heads = this.#hasWritten ? null : this.#places.candidatesOf(`${path}/HEA?`);
      if (heads === undefined || heads?.length === 0) continue;
      return [judgeKind("project-code", this.#policy, `git may run programs that ${path} configures`)];
    }
    return [];
  }

  /** What a command runs in its turn is judged like a command of the script. */
  #judgeInner(
    effect: Extract<Effect, { readonly kind: "command" | "shell" | "stdin-code" }>,
    call: Call,
    at: number,
  ): Verdict {
    if (effect.kind === "command") {
      const words = effect.words;
      const inner = this.#reserve(words.map(({ text }) => text ?? "…").join(" "), at);
      const verdict = this.#judgeCall({ ...call, words, parent: inner, depth: call.depth + 1 }, inner);
      return this.#fill(inner, verdict);
    }
    if (effect.kind === "shell") return this.#judgeScript(effect.script.text, call, at);
    const { input } = call;
    if (input.kind === "file") return this.#judgeEffect({ kind: "execute", path: input.path }, call);
    if (input.kind !== "text" || input.text === undefined)
      return this.#notUnderstood({ problem: "an interpreter runs what is piped or typed into it" });
    if (effect.language === "shell") return this.#judgeScript(input.text, call, at);
    return this.#judgeEffect({ kind: "inline-code", code: { text: input.text } }, call);
  }

  /** `make -f -` and `python -`: code that is only in the script itself counts as code of the project. */
  #judgeStandardInput({ input }: Call): Verdict {
    if (input.kind === "text" && input.text !== undefined) return judgeKind("project-code", this.#policy);
    return this.#notUnderstood({ problem: "a program runs what is piped or typed into it" });
  }

  #judgeScript(source: string | undefined, call: Call, at: number): Verdict {
    if (source === undefined) return this.#notUnderstood({ problem: "a script is only known at run time" });
    if (call.depth >= LIMITS.nesting)
      return this.#notUnderstood({ problem: "scripts are nested too deeply" });
    const context = { dialect: "unknown", home: this.#places.home, folders: [call.folder] } as const;
    const script = readScript(source, context);
    const first = this.verdicts.length;
    this.judge(script.commands, at, call.depth + 1);
    const verdicts: Verdict[] = this.verdicts.slice(first).filter(({ parent }) => parent === at);
    if (script.problem !== undefined) verdicts.push(this.#notUnderstood({ problem: script.problem }));
    return strictest(verdicts) ?? NOTHING;
  }

  #judgeEffect(effect: Effect, call: Call): Verdict {
    switch (effect.kind) {
      case "read":
        return this.#judgePaths(effect.path, call, (path, location) =>
          judgeRead(path, location, this.#places, this.#policy),
        );
      case "enter":
        return this.#judgePaths(effect.path, call, (path, location) =>
          this.#isRelinked(location)
            ? this.#stale(path)
            : judgeRead(path, location, this.#places, this.#policy),
        );
      case "write":
        return this.#judgePaths(effect.path, call, (path, location) => this.#judgeChange(path, location));
      case "delete":
        if (effect.isRecursive && this.#emptiesWorkspace(effect.path, call))
          return judgeKind("writeOutside", this.#policy, "deletes everything in the workspace");
        return this.#judgePaths(effect.path, call, (path, location) =>
          this.#judgeDeletion(path, location, effect.isRecursive),
        );
      case "link":
        return this.#judgeLink(effect, call);
      case "connect":
        return evaluateEndpoint(
          effect.target.text === undefined ? undefined : readEndpoint(effect.target.text),
          effect.sends,
          this.#policy,
        );
      case "execute":
        return this.#judgePaths(effect.path, call, (path, location) => this.#judgeExecution(path, location));
      case "inline-code":
        return judgeKind("project-code", this.#policy);
      case "action":
        return this.#judgeAction(effect.action, call);
      default:
        return this.#notUnderstood({ problem: "an effect that can't be judged" });
    }
  }

  /** Project code, installs and git act on the project that they run in. */
  #judgeAction(action: Extract<Effect, { kind: "action" }>["action"], { folder }: Call): Verdict {
    const isProject = action === "project-code" || action === "install" || action.startsWith("git-");
    const { real } = this.#places.locate(folder);
    if (isProject && (real === undefined || !this.#places.inWorkspace(real)))
      return judgeKind("writeOutside", this.#policy, `acts on ${real ?? folder}, outside the workspace`);
    return judgeKind(action, this.#policy);
  }

  #judgePaths(word: Word, call: Call, judge: (path: string, location: Location) => Verdict): Verdict {
    const { text, isGlob } = word;
    if (text === undefined) return judgeUnknown(judge);
    const absolute = this.#places.absolute(text, call.folder);
    if (isGlob !== true) return judge(absolute, this.#places.locate(absolute));
    const existing = this.#places.candidatesOf(absolute);
    if (existing === null) return judgeUnknown(judge);
    const verdicts = (existing ?? []).map((path) => judge(path, this.#places.locate(path)));
    // Judged by the pattern: what was not looked up, what an earlier command may have created, and the name that a shell
    // leaves as it is if nothing matches.
    const isTree = text.includes("**");
    if (existing === undefined || this.#hasWritten || (existing.length === 0 && !isTree))
      verdicts.push(judge(absolute, this.#places.locate(absolute, true)));
    return strictest(verdicts) ?? NOTHING;
  }

  #judgeChange(path: string, location: Location): Verdict {
    const verdict = judgeWrite(path, location, this.#places, this.#policy);
    return verdict.decision === "allow" && this.#isRelinked(location) ? this.#stale(path) : verdict;
  }

  #judgeDeletion(path: string, location: Location, isRecursive: boolean): Verdict {
    const { real, entry } = location;
    if (isRecursive) {
      for (const folder of [real, entry]) {
        if (folder !== undefined && this.#places.isPrecious(folder))
          return { decision: "deny", rule: "safety/delete-root", reason: `deletes ${folder}` };
      }
      if (real !== undefined && this.#places.holdsWorkspace(real))
        return judgeKind("writeOutside", this.#policy, `deletes ${real} with its repository and settings`);
    }
    return this.#judgeChange(path, location);
  }

  /** `rm -rf *` in a root of the workspace, or above it. */
  #emptiesWorkspace({ text = "", isGlob }: Word, { folder }: Call): boolean {
    if (isGlob !== true || !/(?:^|\/)[*?]+\/?$/.test(text)) return false;
    const parent = parentOf(this.#places.absolute(text, folder));
    const { real } = this.#places.locate(parent);
    return real === undefined || this.#places.holdsWorkspace(real);
  }

  /** A link out of the workspace would let later writes pass for writes in the workspace. */
  #judgeLink({ path, target }: Extract<Effect, { kind: "link" }>, call: Call): Verdict {
    const verdicts = [this.#judgeEffect({ kind: "write", path }, call)];
    const folder = parentOf(this.#places.absolute(path.text ?? "", call.folder));
    for (const from of [call.folder, folder]) {
      verdicts.push(
        this.#judgePaths(target, { ...call, folder: from }, (name, location) => {
          const isInWorkspace = location.real !== undefined && this.#places.inWorkspace(location.real);
          return isInWorkspace
            ? this.#judgeChange(name, location)
            : judgeKind("writeOutside", this.#policy, `links to ${name}, outside the workspace`);
        }),
      );
    }
    return strictest(verdicts) ?? NOTHING;
  }

  #judgeExecution(path: string, location: Location): Verdict {
    const { real, entry } = location;
    const isProject =
      real !== undefined &&
      entry !== undefined &&
      this.#places.inWorkspace(real) &&
      this.#places.inWorkspace(entry);
    if (!isProject) return judgeKind("writeOutside", this.#policy, `runs ${path}, outside the workspace`);
    return this.#isRelinked(location) ? this.#stale(path) : judgeKind("project-code", this.#policy);
  }

  /** Links, copies and moves change where later paths lead; anything that writes changes what patterns match. */
  #recordChanges(effects: readonly Effect[], call: Call): void {
    const sources = effects.flatMap((effect) =>
      effect.kind === "read" || effect.kind === "delete" ? [effect.path] : [],
    );
    for (const effect of effects) {
      if (effect.kind === "read" || effect.kind === "enter" || effect.kind === "connect") continue;
      this.#hasWritten = true;
      if (effect.kind === "link") this.#relink(effect.path, true, call);
      if (effect.kind !== "write") continue;
      const others = sources.filter((source) => source !== effect.path);
      if (others.length > 0)
        this.#relink(
          effect.path,
          others.some((source) => this.#mayBeLink(source, call)),
          call,
        );
    }
  }

  /** Whether copying or moving this file may copy or move a link. */
  #mayBeLink({ text, isGlob }: Word, { folder }: Call): boolean {
    if (text === undefined) return true;
    const { real, entry } = this.#places.locate(this.#places.absolute(text, folder), isGlob);
    return real === undefined || real !== entry;
  }

  #relink({ text, isGlob }: Word, isLink: boolean, { folder }: Call): void {
    const { real, entry } = this.#places.locate(this.#places.absolute(text ?? "/", folder), isGlob);
    for (const path of new Set([real, entry]))
      this.#relinked.push({ path: withoutPattern(path ?? "/"), isLink });
  }

  #isRelinked({ real, entry }: Location): boolean {
    if (this.#relinked.length === 0) return false;
    return [real, entry].some(
      (path) =>
        path === undefined ||
        this.#relinked.some(
          (changed) => isInside(changed.path, path) && (changed.isLink || path !== changed.path),
        ),
    );
  }

  #stale(path: string): Verdict {
    return this.#notUnderstood({
      problem: `an earlier command of the script may change where ${path} leads`,
    });
  }

  #notUnderstood({ problem }: NotUnderstood): Verdict {
    return notUnderstoodVerdict(problem, this.#policy);
  }

  #reserve(command: string, parent: number): number {
    return this.verdicts.push({ ...NOTHING, command, parent }) - 1;
  }

  #fill(at: number, verdict: Verdict): Verdict {
    const reserved = this.verdicts[at];
    if (reserved !== undefined)
      this.verdicts[at] = { ...verdict, command: reserved.command, parent: reserved.parent };
    return verdict;
  }
}

/** The names of standard input among arguments. */
function isStandardInput(text: string | undefined): boolean {
  return text !== undefined && /(?:^|=)(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/.test(text);
}

/** Whether a program that runs code may take it from standard input. */
function runsStandardInput(effects: readonly Effect[], { words }: Call): boolean {
  const runsCode = effects.some(
    ({ kind, ...effect }) =>
      kind === "execute" ||
      kind === "inline-code" ||
      (kind === "action" &&
        "action" in effect &&
        (effect.action === "project-code" || effect.action === "install")),
  );
  return runsCode && words.some(({ text }) => isStandardInput(text));
}

/** A file whose name is only known at run time may be any file. */
function judgeUnknown(judge: (path: string, location: Location) => Verdict): Verdict {
  return judge("a file", { real: undefined, entry: undefined });
}

/** Programs of the system by their name; everything else by its path. */
function programName(text: string): string {
  return /^\/(?:usr\/(?:local\/)?)?s?bin\/([\w.+[-]+)$/.exec(text)?.[1] ?? text;
}

/** A program that is called by its path: project code, if it is in the workspace. */
function executeCall(program: Word, args: readonly Word[]): ParsedCall {
  return {
    path: [program.text ?? ""],
    options: new Map(),
    optionNames: new Set(),
    operands: args,
    effects: [{ kind: "execute", path: program }],
    normalized: [program, ...args],
  };
}

function withoutPattern(path: string): string {
  const wild = path.search(/[*?[]/);
  if (wild === -1) return path;
  return path.slice(0, path.lastIndexOf("/", wild)) || "/";
}

function parentOf(path: string): string {
  return path.replace(/\/+$/, "").replace(/\/[^/]*$/, "") || "/";
}

function normalize(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}
