import {
  forEachChild,
  parse,
  type Assignment,
  type Command,
  type CommandNode,
  type ParsedScript,
  type Pipeline,
  type Statement,
  type SyntaxNode,
  type Word,
} from "unbash";
import { cautioned } from "../finding.ts";
import { LIMITS } from "../limits.ts";
import { evaluatesWhenCounted } from "./builtins.ts";
import { opensTooMany } from "./brackets.ts";
import { CommandRunner } from "./command-runner.ts";
import { decodeInput } from "./decode-input.ts";
import { expandToOne, expandWord } from "./expand-word.ts";
import { TAINT, type NamedValue } from "./invocation.ts";
import { neverEnds } from "./never-ends.ts";
import { readablePart } from "./readable-part.ts";
import { readRedirects } from "./read-redirects.ts";
import { type Reading, TOP, type Standing } from "./reading.ts";
import { narrows } from "./taint.ts";
import type { ShellKind } from "./unwrap.ts";
import { UNKNOWN, type Value } from "./value.ts";
import { readWindowsScript } from "./windows-script.ts";

/** Walks the syntax tree. What a command runs is the runner's business, who comes back here for nested scripts. */
export class ScriptReader {
  readonly #reading: Reading;
  readonly #runner: CommandRunner;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#runner = new CommandRunner(reading, {
      readText: (source, shell, standing) => this.#readText(source, shell, standing),
      readBody: (node, standing) => this.#readBody(node, standing),
    });
  }

  readWhole(source: string): void {
    try {
      this.#readText(source, "posix", TOP);
    } catch (error) {
      // The parser resolves words when they are first looked at, and may run out of stack there.
      if (!(error instanceof RangeError)) throw error;
      this.#reading.noteTooDeep();
    }
  }

  readArgv(argv: readonly Value[]): void {
    this.#runner.run(argv, [], [], TOP);
  }

  #readText(whole: string, shell: ShellKind, standing: Standing): number {
    if (!this.#reading.takeChars(whole.length)) return TAINT.other;
    const source = readablePart(whole);
    if (source !== whole) this.#reading.noteTooMany();
    if (standing.depth > LIMITS.nesting || opensTooMany(source)) {
      this.#reading.noteTooDeep();
      return TAINT.other;
    }
    if (shell === "powershell" || shell === "cmd") {
      const { commands, findings } = readWindowsScript(source, shell);
      for (const finding of findings) this.#reading.note(finding);
      for (const argv of commands) this.#runner.run(argv, [], [], standing);
      return TAINT.other;
    }
    if (shell === "other")
      this.#reading.note(cautioned("opaque-code", "code for a shell that is not read here"));
    // eslint-disable-next-line no-control-regex -- exactly these are what a person can't see
    if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(source)) {
      this.#reading.note(
        cautioned("unknown-text", "a part of the code is not known before it runs, or can't be seen"),
      );
    }
    // Bash drops NUL bytes; an unknown piece may be empty. Both are the worst case to look at.
    let script: ParsedScript;
    try {
      script = parse(source.replaceAll(UNKNOWN, ""));
    } catch {
      // The parser recurses: "function f function f …" exhausts its stack.
      this.#reading.noteTooDeep();
      return TAINT.other;
    }
    return this.#readScript(script, standing);
  }

  #readScript(script: ParsedScript, standing: Standing): number {
    if (script.errors !== undefined) {
      this.#reading.note(
        cautioned("parse-error", `bash syntax that does not parse: ${script.errors[0]?.message ?? "?"}`),
      );
    }
    if (standing.depth > LIMITS.nesting) {
      this.#reading.noteTooDeep();
      return TAINT.other;
    }
    return this.#readStatements(script.commands, standing);
  }

  #readStatements(statements: readonly Statement[], standing: Standing): number {
    let taint: number = TAINT.none;
    for (const { command, background } of statements) {
      if (this.#reading.isExhausted()) return taint | TAINT.other;
      const before = this.#reading.scope.cwds;
      const inside = background === true ? { ...standing, concurrent: true, conditional: true } : standing;
      if (background === true && standing.endless)
        this.#reading.note(
          cautioned("spawn-loop", "an endless loop that starts processes in the background"),
        );
      if (command.type === "AndOr") {
        for (const [index, part] of command.commands.entries()) {
          taint |= this.#readNode(part, index === 0 ? inside : { ...inside, conditional: true });
        }
      } else taint |= this.#readNode(command, inside);
      this.#reading.scope.mayStillBeIn(before);
    }
    return taint;
  }

  #readNode(node: CommandNode | Pipeline, standing: Standing): number {
    switch (node.type) {
      case "Command":
        return this.#readCommand(node, standing);
      case "Pipeline":
        return this.#readPipeline(node, standing);
      case "Redirected": {
        const redirects = readRedirects(node.redirects, this.#reading, (word) =>
          this.#substitutions(word, standing),
        );
        this.#runner.noteWritten(
          this.#runner.push([], [], redirects.files, standing, redirects.taint, false),
        );
        const feed = standing.feed | redirects.taint;
        return this.#readNode(node.command, { ...standing, feed, input: redirects.input ?? standing.input });
      }
      case "Function": {
        const { name, body } = node;
        this.#reading.scope.define(name.value, body, !standing.conditional);
        this.#runner.readFunction(name.value, [body], { ...standing, depth: standing.depth + 1 });
        return TAINT.none;
      }
      case "Coproc":
        return this.#readBody(node.body, { ...standing, concurrent: true });
      default:
        return this.#readBody(node, standing);
    }
  }

  /** A compound command: every part of it, in the order in which it is written. */
  #readBody(node: SyntaxNode, standing: Standing): number {
    let taint: number = TAINT.none;
    const deeper = {
      ...standing,
      depth: standing.depth + 1,
      conditional: standing.conditional || node.type !== "BraceGroup",
    };
    if (deeper.depth > LIMITS.nesting * 2) {
      this.#reading.noteTooDeep();
      return TAINT.other;
    }
    switch (node.type) {
      case "CompoundList":
        return this.#readStatements(node.commands, standing);
      case "Command":
      case "Redirected":
      case "Function":
      case "Coproc":
      case "Pipeline":
        return this.#readNode(node, standing);
      case "Subshell": {
        const { cwds } = this.#reading.scope;
        taint = this.#readStatements(node.body.commands, deeper);
        this.#reading.scope.cwds = cwds;
        return taint;
      }
      case "For":
      case "Select":
        for (const word of node.wordlist ?? []) {
          this.#reading.countWords(1);
          if (this.#reading.isExhausted()) return TAINT.other;
          taint |= this.#substitutions(word, standing);
          for (const value of expandWord(word, this.#reading.scope))
            this.#reading.scope.assign(node.name.value, { ...value, plain: false });
        }
        if (node.wordlist === undefined)
          this.#reading.scope.assign(node.name.value, {
            text: UNKNOWN,
            plain: false,
            glob: false,
            splits: true,
          });
        return taint | this.#readStatements(node.body.commands, deeper);
      case "While": {
        const endless = neverEnds(node.clause.commands);
        const inside = { ...deeper, endless: standing.endless || endless };
        return (
          this.#readStatements(node.clause.commands, inside) |
          this.#readStatements(node.body.commands, inside)
        );
      }
      case "ArithmeticFor":
        taint |= this.#substitutions(node, standing, "CompoundList");
        return (
          taint |
          this.#readStatements(node.body.commands, {
            ...deeper,
            endless: standing.endless || node.test === undefined,
          })
        );
      case "TestCommand":
      case "ArithmeticCommand":
        return this.#substitutions(node, standing);
      case "Word":
        return this.#substitutions(node, standing);
      default:
        forEachChild(node, (child) => {
          taint |= this.#readBody(child, deeper);
        });
        return taint;
    }
  }

  #readPipeline({ commands }: Pipeline, standing: Standing): number {
    let feed = standing.feed;
    let { input } = standing;
    const concurrent = standing.concurrent || commands.length > 1;
    for (const command of commands) {
      if (this.#reading.isExhausted()) return feed | TAINT.other;
      const before = this.#reading.invocations.length;
      const { cwds } = this.#reading.scope;
      feed |= this.#readNode(command, {
        ...standing,
        feed,
        input,
        concurrent,
        conditional: concurrent || standing.conditional,
      });
      if (commands.length > 1) this.#reading.scope.cwds = cwds;
      if ((feed & TAINT.processes) !== 0 && this.#reading.invocations.slice(before).some(narrows))
        feed &= ~TAINT.processes;
      const last =
        this.#reading.invocations.length === before + 1 ? this.#reading.invocations[before] : undefined;
      input = last === undefined ? undefined : decodeInput(last);
    }
    return feed;
  }

  /** Everything that runs inside words: `$(…)`, backticks, `<(…)`, also in arithmetic, indices and defaults. */
  #substitutions(node: SyntaxNode, standing: Standing, except?: string): number {
    if (node.type === "Word" && node.parts === undefined) return TAINT.none;
    let taint: number = TAINT.none;
    this.#reading.countWords(1);
    if (this.#reading.isExhausted()) return TAINT.other;
    const deeper: Standing = {
      ...standing,
      depth: standing.depth + 1,
      feed: standing.feed,
      input: undefined,
    };
    if (deeper.depth > LIMITS.nesting * 2) {
      this.#reading.noteTooDeep();
      return TAINT.other;
    }
    forEachChild(node, (child) => {
      if (child.type === except) return;
      if (
        child.type === "ParameterExpansion" &&
        child.operation?.type === "Transform" &&
        child.operation.operand.value === "P"
      ) {
        this.#reading.note(cautioned("opaque-code", "${…@P} runs what is in a variable"));
      }
      if (child.type === "Script") {
        const { cwds } = this.#reading.scope;
        taint |= this.#readScript(child, deeper);
        this.#reading.scope.cwds = cwds;
      } else taint |= this.#substitutions(child, deeper);
    });
    return taint;
  }

  #readCommand(node: Command, standing: Standing): number {
    this.#reading.countWords(node.args.length + node.redirects.length + node.prefix.length);
    if (this.#reading.isExhausted()) return TAINT.other;
    let inner: number = TAINT.none;
    const words: Word[] = [];
    const declared: Assignment[] = [];
    if (node.name !== undefined) words.push(node.name);
    for (const part of node.args) {
      if (part.type === "Word") words.push(part);
      else declared.push(part);
    }
    for (const word of words) inner |= this.#substitutions(word, standing);
    const prefix = node.prefix.filter((part) => part.type === "Assignment");
    for (const part of [...prefix, ...declared]) inner |= this.#substitutions(part, standing);
    const redirects = readRedirects(node.redirects, this.#reading, (word) =>
      this.#substitutions(word, standing),
    );
    const deeper: Standing = {
      ...standing,
      feed: standing.feed | redirects.taint,
      input: redirects.input ?? (redirects.reads ? undefined : standing.input),
    };

    const scope = this.#reading.scope;
    let taint: number = TAINT.none;
    // One reading for each value that a variable in it may have.
    for (let pick = 0, width = 1; pick < Math.min(width, LIMITS.variants); pick += 1) {
      scope.pick = pick;
      scope.width = 1;
      const assignments = prefix.map((part) => this.#assignment(part));
      const argv = words.flatMap((word) => expandWord(word, scope));
      for (const part of declared) {
        const { name, value } = this.#assignment(part);
        argv.push({ ...value, text: `${name}=${value.text}` });
      }
      width = scope.width;
      scope.pick = 0;
      for (const { name, value } of assignments) {
        scope.assign(name, value);
        if (evaluatesWhenCounted(value))
          this.#reading.note(cautioned("opaque-code", "a value that runs code when it is counted with"));
      }
      taint |= this.#runner.run(argv, assignments, redirects.files, deeper, inner, true);
    }
    return taint;
  }

  #assignment(part: Assignment): NamedValue {
    const { name, value, append } = part;
    if (value.type === "ArrayValue" || part.index !== undefined)
      return { name, value: { text: UNKNOWN, plain: false, glob: false, splits: true } };
    const own = expandToOne(value, this.#reading.scope);
    if (append !== true) return { name, value: own };
    const before = this.#reading.scope.lookup(name)?.text ?? UNKNOWN;
    return { name, value: { ...own, text: before + own.text, plain: false } };
  }
}
