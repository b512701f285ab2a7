import { type CliCommand, createCommand } from "../cli-command.ts";
import type { ConsoleOptions } from "../daemon/print-console-url.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions } from "../daemon/daemon-options.ts";
import { collectScopes, parseLinkLifetime } from "../options/parse-values.ts";

export function consoleCommand(): CliCommand {
  const command = createCommand("console", {
    summary: "Print a link that opens the web console",
    description:
      "Prints the URL of the daemon's web console with a one-time code that logs in one browser. The login has at most the scopes of this command's token, and is revoked together with it. `codexkit token revoke` revokes a single login.",
    examples: [
      ["codexkit console", "a link with all scopes of the token, for ten minutes"],
      [
        "codexkit console --scope read,approve --expires 1h",
        "a link for a phone that only answers approvals",
      ],
    ],
  });
  addDaemonOptions(command)
    .option("--scope <scopes>", "read, write, approve or admin; comma-separated or repeated", collectScopes)
    .option(
      "--expires <duration>",
      "how long the link is valid, at most 1h (default: 10m)",
      parseLinkLifetime,
    )
    .action(async (options: ConsoleOptions, self: CliCommand) => {
      const { printConsoleUrl } = await import("../daemon/print-console-url.ts");
      await printConsoleUrl(options, openContext(self));
    });
  return command;
}
