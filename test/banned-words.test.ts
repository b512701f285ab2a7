import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkFileName, checkProse, checkSource, splitSource } from "./banned-words.ts";

const root = join(import.meta.dirname, "..");

function list(patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**", "**/generated/**"] })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted();
}

/** Declarations of other programs name their subcommands, such as `git show`. */
const declarations = list([
  "packages/approvals/src/programs/*.ts",
  "packages/approvals/src/shell/read-script.test.ts",
]);

const sources = list([
  "packages/*/{src,scripts,test}/**/*.{ts,tsx}",
  "{bench,interop,scripts,test,examples}/**/*.{ts,mjs}",
  "*.ts",
]);
const pages = list(["*.md", "docs/**/*.md", "packages/*/*.md"]);

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

it("finds no banned word in identifiers, comments and file names", () => {
  expect(sources.length).toBeGreaterThan(100);
  const problems = sources.flatMap((path) =>
    [...checkFileName(basename(path)), ...checkSource(read(path))].map((problem) => `${path}: ${problem}`),
  );
  expect(problems.filter((problem) => !isSubcommand(problem) && !isForeign(problem))).toEqual([]);
});

function isSubcommand(problem: string): boolean {
  return declarations.some((path) => problem.startsWith(`${path}: "show" in show `));
}

/** Names from commander, Solid and the DOM, and one-word texts of elements, which look like identifiers. */
function isForeign(problem: string): boolean {
  return (
    /"show" in (?:showGlobalOptions|showHelpAfterError|Show|showModal) /.test(problem) ||
    /\.tsx: "(?<word>\w+)" in \k<word> /i.test(problem)
  );
}

it("finds no banned word in the documentation", () => {
  const problems = pages.flatMap((path) =>
    [...checkFileName(basename(path)), ...checkProse(read(path))].map((problem) => `${path}: ${problem}`),
  );
  expect(problems).toEqual([]);
});

describe("the check", () => {
  it.each([
    ["a whole word of a name", "const frontDesk = 1;", '"desk" in frontDesk'],
    ["two words of a name", "function letGoOf() {}", '"let go" in letGoOf'],
    ["a private member", "this.#tell(1);", '"tell" in tell'],
    ["a word in a comment", "// Whoever calls this.", '"Whoever" in prose'],
    ["code inside a template", "const a = `x${ `y${told}` }z`;", '"told" in told'],
  ])("finds %s", (_what, source, problem) => {
    expect(checkSource(source)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    ["a longer word", "const keyboard = dashboard;"],
    ["a string", 'const name = "nobody at the desk";'],
    ["a regular expression", "if (/^the desk['\"]$/.test(name)) run(name);"],
    ["the text of a template", "const name = `a desk ${name} and a door`;"],
  ])("ignores %s", (_what, source) => {
    expect(checkSource(source)).toEqual([]);
  });

  it("finds words in file names", () => {
    expect(checkFileName("request-desk.test.ts")).toHaveLength(1);
    expect(checkFileName("keyboard.ts")).toEqual([]);
  });

  it("separates code from comments", () => {
    expect(splitSource('a("// no comment"); /* b */ c // d')).toEqual({
      identifiers: ["a", "c"],
      comments: ["/* b */", "// d"],
    });
  });
});
