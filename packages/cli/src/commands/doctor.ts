import { type CliCommand, createCommand } from "../cli-command.ts";
import { openContext } from "../context.ts";
import type { DoctorOptions } from "../doctor/run-doctor.ts";

export function doctorCommand(): CliCommand {
  const command = createCommand("doctor", {
    summary: "Check this machine and suggest fixes",
    description:
      "Checks codex, credentials, the sandbox, pseudo-terminals, the daemon's store and port, and leftovers of killed programs. Exits with 1 if a check fails; a warning is not a failure.",
    examples: [
      ["codexkit doctor", "check everything"],
      ["codexkit doctor --fix", "also end leftover processes and remove leftover files"],
      ["codexkit doctor --json | jq 'select(.status != \"ok\")'", "print problems only, for a script"],
    ],
  });
  command
    .option("--fix", "end processes and remove files that killed programs left behind")
    .option("--store <folder>", "folder of the daemon's store (default: ~/.codexkit/daemon)")
    .action(async (options: DoctorOptions, self: CliCommand) => {
      const { runDoctor } = await import("../doctor/run-doctor.ts");
      await runDoctor(options, openContext(self));
    });
  return command;
}
