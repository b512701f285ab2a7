import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createProgram } from "../program.ts";
import { writeCompletion } from "./write-completion.ts";

/** What bash would offer for a line that ends with the cursor. */
function completeInBash(...words: readonly string[]): string[] {
  const script = `${writeCompletion("bash", createProgram())}
COMP_WORDS=(codexkit "$@"); COMP_CWORD=$#
_codexkit; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script, "bash", ...words], {
    encoding: "utf8",
    cwd: import.meta.dirname,
  })
    .split("\n")
    .filter(Boolean);
}

test("bash completes commands, arguments, options and files", () => {
  expect(completeInBash("comp")).toEqual(["completion"]);
  expect(completeInBash("completion", "")).toEqual(expect.arrayContaining(["bash", "zsh", "fish", "--json"]));
  expect(completeInBash("completion", "--no")).toEqual(["--no-color"]);
  expect(completeInBash("run", "--mode", "")).toEqual(["build", "plan", "chat"]);
  expect(completeInBash("run", "-s", "read")).toEqual(["read-only"]);
  expect(completeInBash("policy", "check", "--preset", "dev")).toEqual(["developer"]);
  expect(completeInBash("inbox", "approve", "--for", "s")).toContain("session");
  expect(completeInBash("completion", "write-completion.te")).toEqual(["write-completion.test.ts"]);
});

test("zsh and fish scripts list every command with its summary", () => {
  const program = createProgram();
  const [zsh, fish] = [writeCompletion("zsh", program), writeCompletion("fish", program)];
  for (const command of program.commands) {
    expect(zsh).toContain(`'${command.name()}:`);
    expect(fish).toContain(`-a ${command.name()} -d`);
  }
});

// Neither shell is needed for these: bash parses the words and quotes of zsh alike, and those of fish are matched.
test("the zsh script has the syntax of a shell", () => {
  expect(() =>
    execFileSync("bash", ["-n"], { input: writeCompletion("zsh", createProgram()) }),
  ).not.toThrow();
});

test("each line of the fish script is one command with quoted words", () => {
  const [, lines = ""] = writeCompletion("fish", createProgram()).split(/^end$/m).slice(-2);
  const word = String.raw`(?:-{0,2}[\w-]+|'(?:[^'\\]|\\['\\])*')`;
  for (const line of lines.trim().split("\n")) expect(line).toMatch(new RegExp(`^complete( ${word})+$`));
});

test("zsh and fish offer the values of options", () => {
  const [zsh, fish] = [writeCompletion("zsh", createProgram()), writeCompletion("fish", createProgram())];
  expect(zsh).toContain(`'run --mode') words_and_help=('build' 'plan' 'chat') ;;`);
  expect(fish).toContain(`-l mode -x -a 'build plan chat' -d `);
});
