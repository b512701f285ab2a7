import { type CliCommand, createCommand } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addThreadOptions, checkThreadOptions, type ThreadCommandOptions } from "../run/thread-options.ts";

export function chatCommand(): CliCommand {
  const command = createCommand("chat", {
    summary: "Chat with Codex",
    description:
      "Opens a conversation in this terminal. A message that is sent while a turn is running steers it. !command runs a shell command, and /help lists the other commands. Ctrl-C interrupts the turn or clears the line; a second Ctrl-C exits.",
    examples: [
      ["codexkit chat", "start a conversation here"],
      ['codexkit chat "What does this project do?"', "start with a first message"],
      ["codexkit chat --daemon", "use a session of the daemon; see codexkit attach"],
      ["codexkit chat --resume", "choose an earlier thread from a list"],
    ],
  });
  addThreadOptions(command.argument("[prompt...]", "the first message")).action(
    async (prompt: readonly string[], options: ThreadCommandOptions, self: CliCommand) => {
      const context = openContext(self);
      checkThreadOptions(options);
      if (options.daemon === undefined) {
        const { runChat } = await import("../chat/run-chat.ts");
        await runChat(context, prompt.join(" "), options);
      } else {
        const { chatSession } = await import("../chat/chat-session.ts");
        await chatSession(context, prompt.join(" "), options);
      }
    },
  );
  return command;
}
