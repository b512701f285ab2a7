import type { CliCommand } from "../cli-command.ts";

/** Options of commands that launch a codex. */
export interface CodexCommandOptions {
  readonly demo?: boolean;
}

export function addCodexOptions(command: CliCommand): CliCommand {
  command.option(
    "--demo",
    "use a scripted model: no credentials are needed, and nothing leaves this machine",
  );
  return command;
}
