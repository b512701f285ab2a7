import { type CliCommand, createCommand } from "../cli-command.ts";
import type { ConsoleOptions } from "../daemon/print-console-url.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions } from "../daemon/daemon-options.ts";
import { collectScopes, parseDuration } from "../options/parse-values.ts";

export function consoleCommand(): CliCommand {
  const command = createCommand("console", {
    summary: "Print a link that opens the web console",
    description:
      "Prints the address of the daemon's web console with a code that logs one browser in, once. The login has the scopes of this command's token or fewer, and ends with it. `codexkit token revoke` ends one login.",
    examples: [
      ["codexkit console", "a link with all scopes of the token, for ten minutes"],
      ["codexkit console --scope read,approve --expires 1h", "one for a phone that only answers approvals"],
    ],
  });
  addDaemonOptions(command)
    .option(
      "--scope <scopes>",
      "read, write, approve or admin; separated by commas, or repeated",
      collectScopes,
    )
    .option("--expires <duration>", "how long the link can be used, at most 1h (default: 10m)", parseDuration)
    .action(async (options: ConsoleOptions, self: CliCommand) => {
      const { printConsoleUrl } = await import("../daemon/print-console-url.ts");
      await printConsoleUrl(options, openContext(self));
    });
  return command;
}
