import { Argument } from "commander";
import type { AttachOptions } from "../attach/attach-session.ts";
import { type CliCommand, createCommand } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions } from "../daemon/daemon-options.ts";

export function attachCommand(): CliCommand {
  const command = createCommand("attach", {
    summary: "Follow and steer a session of the daemon",
    description:
      "Follows a session: its newest turn from the beginning, then everything that happens. On a terminal, a line steers the running turn or starts the next one, and approvals are asked about here. Ctrl-C interrupts the turn; Ctrl-D, or Ctrl-C while none is running, leaves. The session goes on without this program.",
    examples: [
      ["codexkit attach 0199", "by the beginning of its ID"],
      ['codexkit attach --once "Fix the parser"', "by its name, until its turn has ended"],
      ["codexkit attach --once --json 0199 | jq -r .type", "its events, one per line"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(
      new Argument("<session>", "name or ID of the session, or the first 4 or more characters of the ID"),
    )
    .option("--once", "end with the turn, instead of waiting for more")
    .action(async (session: string, options: AttachOptions, self: CliCommand) => {
      const { attachSession } = await import("../attach/attach-session.ts");
      await attachSession(session, options, openContext(self));
    });
  return command;
}
