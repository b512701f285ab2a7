import type { CliCommand } from "../cli-command.ts";

/** Options of commands that launch codex. */
export interface CodexCommandOptions {
  readonly demo?: boolean;
}

/** A hint for an unknown thread. A demo has its own threads. */
export function threadsHint({ demo = false }: CodexCommandOptions): string {
  return `Run \`codexkit threads${demo ? " --demo" : ""}\` to see the threads on this machine.`;
}

export function addCodexOptions(command: CliCommand): CliCommand {
  command.option(
    "--demo",
    "use a scripted model and a separate Codex home, without credentials and without sending anything to the network",
  );
  return command;
}
