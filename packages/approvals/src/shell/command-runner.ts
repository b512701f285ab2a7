import type { SyntaxNode } from "unbash";
import { cautioned, denied, type Finding } from "../finding.ts";
import { LIMITS } from "../limits.ts";
import { applyBuiltin, hidesCode } from "./builtins.ts";
import { decodeInput } from "./decode-input.ts";
import { interpreterFor, shellKind } from "./interpreters.ts";
import { programName, TAINT, type FileRedirect, type Invocation, type NamedValue } from "./invocation.ts";
import type { Reading, Standing } from "./reading.ts";
import type { FunctionBody } from "./scope.ts";
import { narrows, ownTaint } from "./taint.ts";
import { targetPaths } from "./targets.ts";
import type { Inner, ShellKind } from "./unwrap.ts";
import { unwrapCommand } from "./unwrap-command.ts";
import { commandText, UNKNOWN, type Value } from "./value.ts";

/** The way back to the reader of scripts, for commands that run one. Both return the taint of what is printed. */
export interface Walker {
  readText(source: string, shell: ShellKind, standing: Standing): number;
  readBody(node: SyntaxNode, standing: Standing): number;
}

/** Takes one command whose words are known: notes it, and follows what it runs in its turn. */
export class CommandRunner {
  readonly #reading: Reading;
  readonly #walker: Walker;

  constructor(reading: Reading, walker: Walker) {
    this.#reading = reading;
    this.#walker = walker;
  }

  push(
    argv: readonly Value[],
    assignments: readonly NamedValue[],
    redirects: readonly FileRedirect[],
    standing: Standing,
    inner: number,
    direct: boolean,
  ): Invocation {
    // zsh runs `=rm` by the path of `rm`.
    const first =
      argv[0]?.text.startsWith("=") === true
        ? { ...argv[0], text: argv[0].text.slice(1), plain: false }
        : argv[0];
    const words = first === undefined ? argv : [first, ...argv.slice(1)];
    const name = programName(first);
    const invocation: Invocation = {
      argv: words,
      name,
      assignments,
      redirects,
      cwds: this.#reading.scope.cwds,
      parent: standing.parent,
      feed: standing.feed,
      inner,
      input: standing.input,
      isFunction: direct && first !== undefined && this.#reading.scope.isFunction(first.text),
      wraps: false,
      taint: TAINT.none,
      findings: [],
    };
    if (first !== undefined && (!first.plain || first.glob)) {
      invocation.findings.push(
        cautioned("dynamic-name", "the program's name is built from a variable, an escape or a pattern"),
      );
    }
    this.#reading.invocations.push(invocation);
    return invocation;
  }

  /** Notes one command, then reads what it would run in its turn. Returns the taint of what it prints. */
  run(
    argv: readonly Value[],
    assignments: readonly NamedValue[],
    redirects: readonly FileRedirect[],
    standing: Standing,
    inner: number = TAINT.none,
    direct = false,
  ): number {
    if (argv.length === 0 && assignments.length === 0 && redirects.length === 0) return inner;
    if (this.#reading.isExhausted()) return inner | TAINT.other;
    const invocation = this.push(argv, assignments, redirects, standing, inner, direct);
    this.noteWritten(invocation);
    if (argv.length === 0) {
      invocation.wraps = true;
      // `$(< file)` prints the file.
      if (redirects.length > 0) invocation.taint = ownTaint(invocation, this.#reading.places);
      return inner | invocation.taint;
    }
    if (hidesCode(invocation))
      invocation.findings.push(cautioned("opaque-code", "an index that is evaluated as code"));
    applyBuiltin(invocation, this.#reading.scope);
    invocation.taint = ownTaint(invocation, this.#reading.places);
    let taint = standing.feed | inner | invocation.taint;
    if ((taint & TAINT.processes) !== 0 && narrows(invocation)) taint &= ~TAINT.processes;
    // Only a name that a shell looks up itself can be a function: `env f` runs a program.
    if (direct) taint |= this.#callFunction(invocation, standing) | this.#callAlias(invocation, standing);
    if (invocation.isFunction) return taint;
    taint |= this.#runWritten(invocation, standing);
    const { transparent, inner: wrapped } = unwrapCommand(invocation);
    invocation.wraps = transparent;
    for (const item of wrapped)
      taint |= this.#runInner(item, invocation, {
        ...standing,
        parent: invocation,
        depth: standing.depth + 1,
      });
    return taint;
  }

  #runInner(item: Inner, invocation: Invocation, standing: Standing): number {
    if (standing.depth > LIMITS.nesting) {
      this.#reading.noteTooDeep();
      return TAINT.other;
    }
    const scope = this.#reading.scope;
    switch (item.kind) {
      case "command": {
        const { cwds } = scope;
        if (item.folder !== undefined) scope.enter(item.folder);
        const taint = this.run(item.argv, item.assignments ?? [], [], standing, invocation.inner);
        scope.cwds = cwds;
        return taint;
      }
      case "script":
        return this.#nested(item, invocation, standing);
      case "stdin":
        return this.#codeFromStdin(item, invocation, standing);
      case "opaque":
        invocation.findings.push(cautioned("opaque-code", `${item.what}: code that is not read here`));
        return TAINT.other;
    }
  }

  #nested(
    { source, shell, positional = [] }: Extract<Inner, { kind: "script" }>,
    invocation: Invocation,
    standing: Standing,
  ): number {
    const { cwds } = this.#reading.scope;
    const restore = positional.map((value, index) => this.#reading.scope.shadow(String(index), value));
    if (source.text.includes(UNKNOWN)) {
      invocation.findings.push(
        hiddenCode(invocation.inner | invocation.feed, "code that is put together when it runs"),
      );
    }
    const taint = this.#walker.readText(source.text.replaceAll(UNKNOWN, ""), shell, standing);
    for (const undo of restore) undo();
    // `eval` and `alias` act on this shell, every other script on a shell of its own.
    if (invocation.name !== "eval") this.#reading.scope.cwds = cwds;
    return taint;
  }

  #codeFromStdin(
    { shell, what }: Extract<Inner, { kind: "stdin" }>,
    invocation: Invocation,
    standing: Standing,
  ): number {
    const { input } = invocation;
    if (input !== undefined && shell === "posix") {
      if (input.includes(UNKNOWN))
        invocation.findings.push(
          cautioned("opaque-code", `${what} reads code that is put together when it runs`),
        );
      return this.#walker.readText(input.replaceAll(UNKNOWN, ""), "posix", { ...standing, input: undefined });
    }
    invocation.findings.push(
      hiddenCode(invocation.inner | invocation.feed, `${what} reads code from a place that can't be seen`),
    );
    return TAINT.other;
  }

  /** An alias stands for the beginning of a command; the words behind it are appended. */
  #callAlias({ argv }: Invocation, standing: Standing): number {
    const { aliases, active } = this.#reading.scope;
    const name = argv[0]?.text ?? "";
    const text = aliases.get(name);
    if (text === undefined || active.has(name)) return TAINT.none;
    active.add(name);
    const line = `${text} ${commandText(argv.slice(1))}`;
    const taint = this.#walker.readText(line, "posix", { ...standing, depth: standing.depth + 1 });
    active.delete(name);
    return taint;
  }

  #callFunction(invocation: Invocation, standing: Standing): number {
    const name = invocation.argv[0]?.text ?? "";
    if (this.#reading.scope.bodiesOf(name).length === 0) return TAINT.none;
    if (this.#reading.scope.active.has(name)) {
      if (standing.concurrent) {
        invocation.findings.push(denied("fork-bomb", `the function ${name} starts copies of itself`));
      }
      return TAINT.none;
    }
    const restore = invocation.argv.map((value, index) => this.#reading.scope.shadow(String(index), value));
    const bodies = this.#reading.scope.bodiesOf(name);
    const inside = { ...standing, parent: invocation, depth: standing.depth + 1 };
    const taint = this.readFunction(name, bodies, inside);
    for (const undo of restore) undo();
    return taint;
  }

  /** Reads bodies that the name may stand for: all of them when it is called, the new one when it is defined. */
  readFunction(name: string, bodies: readonly FunctionBody[], standing: Standing): number {
    const { active } = this.#reading.scope;
    // Functions in functions may be many without a single command in them.
    this.#reading.countWords(bodies.length);
    if (standing.depth > LIMITS.nesting || this.#reading.isExhausted()) return TAINT.other;
    const outermost = !active.has(name);
    active.add(name);
    let taint: number = TAINT.none;
    for (const body of bodies) taint |= this.#walker.readBody(body, { ...standing, conditional: true });
    if (outermost) active.delete(name);
    return taint;
  }

  /** `echo … > x.sh` here and `sh x.sh` later is one script in two steps. */
  noteWritten(invocation: Invocation): void {
    const targets = invocation.redirects.filter(({ mode }) => mode === "write").map(({ target }) => target);
    const { name, argv } = invocation;
    if (name === "tee" || name === "sponge") targets.push(...argv.slice(1));
    for (const arg of argv)
      if (name === "dd" && arg.text.startsWith("of=")) targets.push({ ...arg, text: arg.text.slice(3) });
    if (/^(?:cp|mv|ln|install)$/.test(name)) this.#noteCopied(invocation);
    if (targets.length === 0) return;
    const text = decodeInput(invocation);
    for (const target of targets) {
      for (const path of targetPaths(target, invocation, this.#reading.places)) {
        // Written twice, nobody knows what is in it.
        this.#reading.scope.written.set(path, this.#reading.scope.written.has(path) ? undefined : text);
      }
    }
  }

  /** A copy of what was written holds the same. */
  #noteCopied(invocation: Invocation): void {
    const { scope, places } = this.#reading;
    const words = invocation.argv.slice(1).filter(({ text }) => !text.startsWith("-"));
    const [target] = words.slice(-1);
    if (scope.written.size === 0 || target === undefined) return;
    for (const source of words.slice(0, -1).flatMap((word) => targetPaths(word, invocation, places))) {
      if (!scope.written.has(source)) continue;
      for (const path of targetPaths(target, invocation, places)) {
        scope.written.set(path, scope.written.get(source));
        scope.written.set(`${path}${source.slice(source.lastIndexOf("/"))}`, scope.written.get(source));
      }
    }
  }

  #runWritten(invocation: Invocation, standing: Standing): number {
    const { written } = this.#reading.scope;
    if (written.size === 0) return TAINT.none;
    const { name, argv } = invocation;
    const interpreted = interpreterFor(name) !== undefined;
    const words = interpreted ? argv.slice(1) : argv.slice(0, argv[0]?.text.includes("/") === true ? 1 : 0);
    let taint: number = TAINT.none;
    for (const path of words.flatMap((word) => targetPaths(word, invocation, this.#reading.places))) {
      if (!written.has(path)) continue;
      const text = written.get(path);
      const shell = !interpreted || shellKind(name) === "posix" || name === "source" || name === ".";
      if (text === undefined || !shell || /^#!(?!.*\b(?:ba|z|da|k)?sh\b)/.test(text)) {
        invocation.findings.push(cautioned("opaque-code", `runs ${path}, which it has just written`));
      } else
        taint |= this.#walker.readText(text, "posix", {
          ...standing,
          parent: invocation,
          depth: standing.depth + 1,
        });
    }
    return taint;
  }
}

/** Code that can't be seen: never allowed, and refused outright when it is known to come from afar or to be disguised. */
function hiddenCode(taint: number, reason: string): Finding {
  if ((taint & TAINT.download) !== 0) return denied("download-to-shell", "runs what it downloads");
  if ((taint & TAINT.decoded) !== 0) return denied("decoded-to-shell", "runs code that is decoded first");
  return cautioned("opaque-code", reason);
}
