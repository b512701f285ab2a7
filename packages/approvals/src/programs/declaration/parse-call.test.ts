import { describe, expect, it } from "vitest";
import { attachedValue, declareProgram, flag, flagWith, HELP, value } from "./declaration.ts";
import { action } from "./effect.ts";
import { isNotUnderstood, parseCall } from "./parse-call.ts";
import { literal, type Word } from "./word.ts";

const grep = declareProgram({
  names: ["grep"],
  options: {
    ...HELP,
    "-A, --after-context": value("number"),
    "-e, --regexp": value("pattern", { operands: { rest: "read" } }),
    "-f, --file": value("read", { operands: { rest: "read" } }),
    "-i, --ignore-case": flag,
    "-r, --recursive": flag,
    "--color": attachedValue("data"),
  },
  operands: { first: ["pattern"], rest: "read", atLeast: 1 },
});

const git = declareProgram({
  names: ["git"],
  options: { "-C": value("cwd"), "--no-pager": flag },
  subcommands: {
    push: {
      options: { "-u, --set-upstream": flag, "-n, --dry-run": flagWith({ replacesEffects: true }) },
      operands: { first: ["remote"], rest: "data" },
      effects: [action("git-push")],
    },
    stash: { subcommands: { pop: { effects: [action("git-local")] } } },
  },
});

const timeout = declareProgram({
  names: ["timeout"],
  syntax: "posix",
  options: { "-k, --kill-after": value("number") },
  operands: { first: ["number"], rest: "command", atLeast: 2 },
});

const echo = declareProgram({
  names: ["echo"],
  options: { "-n": flag },
  operands: { rest: "data", acceptsAnyWord: true },
});

const uniq = declareProgram({ names: ["uniq"], operands: { first: ["read", "write"] } });

const cat = declareProgram({ names: ["cat"], hasHarmlessOptions: true, operands: { rest: "read" } });

const tar = declareProgram({
  names: ["tar"],
  hasUndashedCluster: true,
  options: { "-f, --file": value("read"), "-t, --list": flag, "-z, --gzip": flag },
});

const words = (text: string): Word[] => text.split(" ").map(literal);
const problemOf = (result: object): string | undefined =>
  isNotUnderstood(result) ? result.problem : undefined;

describe("a call", () => {
  it("is understood if every option and operand is declared", () => {
    const call = parseCall(grep, words("-ri -A3 --color=auto pattern src test"));
    expect(call).toMatchObject({
      path: ["grep"],
      effects: [
        { kind: "read", path: { text: "src" } },
        { kind: "read", path: { text: "test" } },
      ],
    });
  });

  it("has other operands if an option changes them", () => {
    expect(parseCall(grep, words("-e x src"))).toMatchObject({ effects: [{ kind: "read" }] });
    expect(parseCall(grep, words("-f list src"))).toMatchObject({
      effects: [{ kind: "read" }, { kind: "read" }],
    });
  });

  it.each([
    ["an unknown option", "-z x"],
    ["an unknown letter in a cluster", "-riz x"],
    ["an abbreviated long option", "--recurs x"],
    ["a value for an option without one", "--recursive=yes x"],
    ["an option that lacks its argument", "x -A"],
    ["too few operands", "-r"],
    ["an invalid number", "-A x y"],
  ])("is not understood with %s", (_, args) => {
    expect(problemOf(parseCall(grep, words(args)))).toMatch(/^grep: /);
  });

  it("is not understood if a word that is known only at run time could be an option", () => {
    expect(problemOf(parseCall(grep, [literal("x"), { text: undefined }]))).toContain("run time");
    expect(problemOf(parseCall(grep, [literal("x"), { text: "*.ts", isGlob: true }]))).toContain("option");
    expect(parseCall(grep, [literal("x"), { text: "src/*.ts", isGlob: true }])).toMatchObject({
      path: ["grep"],
    });
    expect(parseCall(grep, [literal("-e"), { text: undefined }, literal("src")])).toMatchObject({
      path: ["grep"],
    });
    expect(parseCall(echo, [literal("x"), { text: undefined }])).toMatchObject({ effects: [] });
  });

  it("treats a pattern as options or several operands wherever it could expand to them", () => {
    const glob = (text: string): Word => ({ text, isGlob: true });
    const effectsOf = (program: typeof grep, args: readonly Word[]) => {
      const call = parseCall(program, args);
      return isNotUnderstood(call) ? call.problem : call.effects;
    };
    expect(effectsOf(grep, [literal("-A"), glob("1*"), literal("x")])).toContain("several words");
    expect(effectsOf(grep, [glob("--color=a*"), literal("x")])).toEqual([]);
    expect(effectsOf(grep, [glob("--col*"), literal("x")])).toContain("option");
    expect(effectsOf(grep, [glob("a*")])).toEqual([{ kind: "read", path: glob("a*") }]);
    expect(effectsOf(uniq, [glob("a*")])).toEqual([
      { kind: "read", path: glob("a*") },
      { kind: "write", path: glob("a*") },
    ]);
  });

  it("accepts any operand that is read by a program whose options are all harmless", () => {
    expect(parseCall(cat, [{ text: "*.md", isGlob: true }, { text: undefined }])).toMatchObject({
      effects: [
        { kind: "read", path: { text: "*.md" } },
        { kind: "read", path: { text: undefined } },
      ],
    });
    expect(problemOf(parseCall(cat, words("-Z")))).toContain("not declared");
    const harmlessGrep = { ...grep, hasHarmlessOptions: true };
    expect(parseCall(harmlessGrep, [{ text: undefined }, literal("a")])).toMatchObject({
      effects: [{ kind: "read", path: { text: "a" } }],
    });
    expect(parseCall(harmlessGrep, [{ text: undefined, maySplit: true }])).toMatchObject({
      effects: [{ kind: "read", path: { text: undefined } }],
    });
  });

  it("accepts listed words, and words that a pattern matches as a whole", () => {
    const ssh = declareProgram({
      names: ["ssh"],
      options: { "-o": value(/BatchMode=(?:yes|no)/), "-t": value(["a", "b"]) },
    });
    expect(problemOf(parseCall(ssh, words("-o BatchMode=yes -t b")))).toBeUndefined();
    expect(problemOf(parseCall(ssh, words("-o BatchMode=yes,x")))).toContain("not declared");
    expect(problemOf(parseCall(ssh, [literal("-o"), { text: undefined }]))).toContain("not declared");
    expect(problemOf(parseCall(ssh, words("-t c")))).toContain("none of a, b");
  });

  it("distinguishes standard output from a file named -", () => {
    const sort = declareProgram({
      names: ["sort"],
      options: { "-0": flag, "-o": value("output"), "-T": value("write") },
    });
    expect(parseCall(sort, words("-o - -0"))).toMatchObject({ effects: [] });
    expect(parseCall(sort, words("-T -"))).toMatchObject({ effects: [{ kind: "write" }] });
    expect(problemOf(parseCall(sort, words("-07")))).toContain("-7");
  });

  it("accepts letters without a dash only if the program does, and only one argument after them", () => {
    expect(parseCall(tar, words("tzf a.tgz"))).toMatchObject({ effects: [{ path: { text: "a.tgz" } }] });
    expect(problemOf(parseCall(tar, words("tfz a.tgz")))).toContain("not a list of options");
    expect(problemOf(parseCall(tar, words("txf a.tgz")))).toContain("not a list of options");
    expect(problemOf(parseCall(tar, [{ text: undefined }]))).toContain("run time");
    expect(problemOf(parseCall(grep, words("ri")))).toBeUndefined();
  });

  it("is normalised to the main names without global options", () => {
    const call = parseCall(git, words("-C . --no-pager push -u origin main"));
    expect(problemOf(call)).toBeUndefined();
    expect("normalized" in call && call.normalized.map(({ text }) => text)).toEqual(
      words("git push -u origin main").map(({ text }) => text),
    );
    expect(call).toMatchObject({
      effects: [action("git-push"), { kind: "enter", path: { text: "." } }],
    });
  });

  it("does not have its usual effects if an option replaces them", () => {
    expect(parseCall(git, words("push --dry-run origin"))).toMatchObject({ effects: [] });
  });

  it("treats everything after an option that ends the options as operands", () => {
    const python = declareProgram({
      names: ["python"],
      options: { "-m": value("data", { endsOptions: true, operands: { rest: "data" } }) },
    });
    expect(parseCall(python, words("-m pytest -k x"))).toMatchObject({ operands: words("-k x") });
  });

  it("selects nested subcommands and rejects undeclared ones", () => {
    expect(parseCall(git, words("stash pop"))).toMatchObject({ path: ["git", "stash", "pop"] });
    expect(problemOf(parseCall(git, words("stash drop")))).toContain("drop");
    expect(problemOf(parseCall(git, words("push ../elsewhere")))).toContain("not the name of a remote");
  });

  it("returns a wrapped command with its own options", () => {
    expect(parseCall(timeout, words("-k 5 10 rm -rf x"))).toMatchObject({
      effects: [{ kind: "command", words: words("rm -rf x") }],
    });
  });
});
