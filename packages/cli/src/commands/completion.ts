import { Argument } from "commander";
import { type CliCommand, createCommand } from "../cli-command.ts";
import { openContext } from "../context.ts";

export function completionCommand(): CliCommand {
  const command = createCommand("completion", {
    summary: "Print a completion script for a shell",
    description:
      "Prints a script that completes codexkit's commands and options. Load it in the shell's start-up file.",
    examples: [
      ['eval "$(codexkit completion bash)"', "in ~/.bashrc"],
      ['eval "$(codexkit completion zsh)"', "in ~/.zshrc, after compinit"],
      ["codexkit completion fish | source", "in ~/.config/fish/config.fish"],
    ],
  });
  command
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .action(async (shell: "bash" | "zsh" | "fish", _options, self: CliCommand) => {
      const { writeCompletion } = await import("../completion/write-completion.ts");
      openContext(self).stdout.write(writeCompletion(shell, self.parent as CliCommand));
    });
  return command;
}
