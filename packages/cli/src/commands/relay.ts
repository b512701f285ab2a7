import { type CliCommand, createGroup } from "../cli-command.ts";

export function relayCommand(): CliCommand {
  const command = createGroup("relay", {
    summary: "Run Codex's commands on a machine behind a firewall",
    description:
      "Starts an executor, a forwarder or a registry with its rendezvous. Passes all commands and options to codexkit-relay: `codexkit relay --help` lists them, and docs/relay.md explains them.",
    examples: [
      ["codexkit relay registry serve", "run a registry"],
      ["codexkit relay executor --remote https://relay.example --environment-id box", "serve this machine"],
    ],
  });
  command.passesHelpOn = true;
  command
    .argument("[options...]", "commands and options of codexkit-relay")
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (args: readonly string[]) => {
      const { becomeProgram } = await import("../process/become-program.ts");
      await becomeProgram(import.meta.resolve("@codexkit/relay/package.json"), "codexkit-relay", args);
    });
  return command;
}
