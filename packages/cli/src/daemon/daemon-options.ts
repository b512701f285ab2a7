import type { CliCommand } from "../cli-command.ts";

/** Options of commands that talk to a daemon. */
export interface DaemonCommandOptions {
  readonly url?: string;
  readonly tokenFile?: string;
}

export function addDaemonOptions(command: CliCommand): CliCommand {
  command
    .option(
      "--url <url>",
      "URL of the daemon (default: CODEXKIT_URL, then the daemon started by `codexkit serve`)",
    )
    .option(
      "--token-file <file>",
      "file with the token (default: CODEXKIT_TOKEN, then the token file of `codexkit serve`)",
    );
  return command;
}
