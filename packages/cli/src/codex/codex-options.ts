import type { CliCommand } from "../cli-command.ts";

/** Options of commands that launch a codex. */
export interface CodexCommandOptions {
  readonly demo?: boolean;
}

/** What to do about an unknown thread. A demo has threads of its own. */
export function threadsHint({ demo = false }: CodexCommandOptions): string {
  return `Run \`codexkit threads${demo ? " --demo" : ""}\` to see the threads of this machine.`;
}

export function addCodexOptions(command: CliCommand): CliCommand {
  command.option(
    "--demo",
    "use a scripted model: no credentials are needed, and nothing leaves this machine",
  );
  return command;
}
