import { Argument } from "commander";
import type { AttachOptions } from "../attach/attach-session.ts";
import { type CliCommand, createCommand } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions } from "../daemon/daemon-options.ts";

export function attachCommand(): CliCommand {
  const command = createCommand("attach", {
    summary: "Follow and steer a session of the daemon",
    description:
      "Prints the newest turn of a session from its beginning, then follows the session. On a terminal, type a line to steer the running turn or start the next one, and answer approvals here. Ctrl-C interrupts the turn. Ctrl-D, or Ctrl-C while no turn is running, exits. The session continues without this program.",
    examples: [
      ["codexkit attach 0199", "attach by the beginning of the ID"],
      ['codexkit attach --once "Fix the parser"', "attach by name, and exit when the turn ends"],
      ["codexkit attach --once --json 0199 | jq -r .type", "print one event type per line"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(
      new Argument("<session>", "name or ID of the session, or at least the first 4 characters of the ID"),
    )
    .option("--once", "exit when the turn ends instead of waiting for more")
    .action(async (session: string, options: AttachOptions, self: CliCommand) => {
      const { attachSession } = await import("../attach/attach-session.ts");
      await attachSession(session, options, openContext(self));
    });
  return command;
}
