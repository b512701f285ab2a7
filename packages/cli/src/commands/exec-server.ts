import { type CliCommand, createGroup } from "../cli-command.ts";

export function execServerCommand(): CliCommand {
  const command = createGroup("exec-server", {
    summary: "Serve this machine's processes and files to a Codex elsewhere",
    description:
      "Starts the exec-server. Passes all options to codexkit-exec-server: `codexkit exec-server --help` lists them, and docs/exec-server.md explains them.",
    examples: [
      ["codexkit exec-server --listen ws://127.0.0.1:4500", "serve this machine"],
      ["codexkit exec-server --help", "list all options"],
    ],
  });
  command.passesHelpOn = true;
  command
    .argument("[options...]", "options of codexkit-exec-server")
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (args: readonly string[]) => {
      const { becomeProgram } = await import("../process/become-program.ts");
      await becomeProgram(
        import.meta.resolve("@codexkit/exec-server/package.json"),
        "codexkit-exec-server",
        args,
      );
    });
  return command;
}
