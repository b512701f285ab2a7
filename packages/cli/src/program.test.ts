import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatDocs } from "../scripts/format-docs.ts";
import { runCli } from "../test/cli-process.ts";
import type { CliCommand } from "./cli-command.ts";
import { createProgram } from "./program.ts";
import { readVersion } from "./version.ts";

const program = createProgram();

function leaves(command: CliCommand, path: readonly string[] = []): [name: string, command: CliCommand][] {
  return command.commands.flatMap((each) => {
    const child = each as CliCommand;
    const name = [...path, child.name()];
    return child.commands.length === 0 ? [[name.join(" "), child] as const] : leaves(child, name);
  }) as [string, CliCommand][];
}

describe.each(leaves(program))("codexkit %s", (_name, command) => {
  test("has a summary, a description and examples", () => {
    expect(command.summary()).toMatch(/^[A-Z].*[^.]$/);
    expect(command.description()).toMatch(/\.$/);
    expect(command.examples.length).toBeGreaterThan(0);
    for (const [commandLine] of command.examples) expect(commandLine).toContain("codexkit");
  });

  test("describes every option", () => {
    expect(command.options.filter(({ description }) => description === "")).toEqual([]);
  });
});

test.each([program, ...program.commands.filter(({ commands }) => commands.length > 0)])(
  "the help of a command with subcommands has examples",
  (command) => {
    let help = "";
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
    expect(help).toMatch(/^Examples:\n {2}# .+\n {2}codexkit /m);
  },
);

test("docs/cli.md is up to date", async () => {
  const docs = await readFile(join(import.meta.dirname, "../../../docs/cli.md"), "utf8");
  // To update it: node --conditions=codexkit:source packages/cli/scripts/write-docs.ts
  expect(docs).toBe(formatDocs(program));
});

test("--version and --help print to stdout and exit with 0", async () => {
  const [version, help, bare] = await Promise.all([runCli(["--version"]), runCli(["--help"]), runCli([])]);

  expect(version).toEqual({ exitCode: 0, stdout: `${readVersion()}\n`, stderr: "" });
  expect(help).toMatchObject({ exitCode: 0, stderr: "" });
  expect(bare).toEqual(help);
  for (const { name } of program.commands.map((command) => ({ name: command.name() }))) {
    expect(help.stdout).toMatch(new RegExp(String.raw`^  ${name}\b`, "m"));
  }
});

test("an unknown command exits with 2 and names the nearest one", async () => {
  const { exitCode, stderr, stdout } = await runCli(["completions"]);

  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toContain("unknown command 'completions'");
  expect(stderr).toContain("Did you mean completion?");
});

test("an unknown option exits with 2", async () => {
  const { exitCode, stderr } = await runCli(["completion", "bash", "--colour"]);

  expect(exitCode).toBe(2);
  expect(stderr).toContain("unknown option '--colour'");
});

test.each([
  ["a command", ["no\u001b]52;c;aGk=\u0007"], String.raw`unknown command 'no\x1b]52;c;aGk=\x07'`],
  ["an option", ["run", "--no\u001b[2J\r"], String.raw`unknown option '--no\x1b[2J\x0d'`],
])("an error about %s has no control characters", async (_what, args, message) => {
  const { exitCode, stderr } = await runCli(args);

  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});
