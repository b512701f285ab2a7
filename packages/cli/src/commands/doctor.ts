import { type CliCommand, createCommand } from "../cli-command.ts";
import { openContext } from "../context.ts";
import type { DoctorOptions } from "../doctor/run-doctor.ts";

export function doctorCommand(): CliCommand {
  const command = createCommand("doctor", {
    summary: "Check this machine, and say how to fix what is wrong",
    description:
      "Checks codex, credentials, the sandbox, pseudo-terminals, the store of the daemon, its port, and what killed programs have left behind. The exit code is 1 if a check failed; a warning is not a failure.",
    examples: [
      ["codexkit doctor", "check everything"],
      ["codexkit doctor --fix", "also end processes and remove files of killed programs"],
      ["codexkit doctor --json | jq 'select(.status != \"ok\")'", "findings only, for a script"],
    ],
  });
  command
    .option("--fix", "end processes and remove files that killed programs have left behind")
    .option("--store <folder>", "folder of the daemon's store (default: ~/.codexkit/daemon)")
    .action(async (options: DoctorOptions, self: CliCommand) => {
      const { runDoctor } = await import("../doctor/run-doctor.ts");
      await runDoctor(options, openContext(self));
    });
  return command;
}
