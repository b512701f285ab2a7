import { Help } from "commander";
import type { CliCommand } from "../src/cli-command.ts";

const INTRODUCTION = `# The codexkit command

<!-- Generated from the definitions in packages/cli/src/commands by packages/cli/scripts/write-docs.ts. -->

\`@codexkit/cli\` is the command line of codexkit. It requires Node.js 24 or newer.

\`\`\`sh
npm install --global @codexkit/cli
codexkit run "Make the failing test pass"
\`\`\`

## Everywhere

- Credentials are taken from \`CODEX_API_KEY\`, then the login of \`codexkit login\`, then \`OPENAI_API_KEY\`. A key from the
  environment is not written to a file.
- Text output is coloured only on a terminal. \`NO_COLOR\`, \`FORCE_COLOR\`, \`--color\` and \`--no-color\` change that.
- \`--json\` prints one JSON value per line instead, and nothing else to stdout.
- Errors are one or two lines on stderr that say how to fix the problem. \`--debug\` adds the stack trace.
- Text from the model and output of commands are printed without escape sequences and control characters, so that they can't
  affect the terminal. In commands, paths and tool names such characters are shown as escapes, because users decide about them.

| exit code | meaning                                                            |
| --------- | ------------------------------------------------------------------ |
| 0         | done                                                               |
| 1         | failed                                                             |
| 2         | invalid command line                                               |
| 3         | denied: the user or the policy declined what the task needed       |
| 4         | exceeded the budget or the deadline                                |
| 129, 143  | ended by SIGHUP (the terminal was closed) or SIGTERM               |
| 130       | interrupted with Ctrl-C                                            |
| 141       | the reader of the output exited, as in \`codexkit run … \\| head -1\` |
`;

/** Returns the page as this repository's formatter would format it. */
export function formatDocs(program: CliCommand): string {
  const sections = program.commands.flatMap((command) => formatCommand(command as CliCommand, "codexkit", 2));
  return `${[INTRODUCTION, ...sections].join("\n").trimEnd()}\n`;
}

function formatCommand(command: CliCommand, parent: string, level: number): string[] {
  const name = `${parent} ${command.name()}`;
  const help = new Help();
  const details = [
    ...help
      .visibleArguments(command)
      .map((argument) => [`\`${argument.name()}\``, help.argumentDescription(argument)]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => !COMMON.has(long ?? ""))
      .map((option) => [`\`${option.flags}\``, help.optionDescription(option)]),
  ];
  const usage = command.commands.length > 0 ? [] : ["```", `${parent} ${usageOf(command)}`, "```", ""];
  return [
    `${"#".repeat(level)} ${name}`,
    "",
    command.description(),
    "",
    ...usage,
    ...details.map(([term = "", text = ""]) => `- ${term}: ${text}`),
    ...(details.length > 0 ? [""] : []),
    ...formatExamples(command),
    ...command.commands.flatMap((child) => formatCommand(child as CliCommand, name, level + 1)),
  ];
}

/** Listed once, in the introduction. */
const COMMON: ReadonlySet<string> = new Set(["--json", "--color", "--no-color", "--debug", "--help"]);

function usageOf(command: CliCommand): string {
  return `${command.name()} ${command.usage()}`;
}

function formatExamples({ examples }: CliCommand): string[] {
  if (examples.length === 0) return [];
  return ["```sh", ...examples.flatMap(([commandLine, comment]) => [`# ${comment}`, commandLine]), "```", ""];
}
