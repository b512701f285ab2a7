import { Argument } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { addCodexOptions } from "../codex/codex-options.ts";
import { openContext } from "../context.ts";
import { parseCount } from "../options/parse-values.ts";
import type { ListThreadsOptions } from "../threads/list-threads.ts";
import type { PrintThreadOptions } from "../threads/print-thread.ts";

export function threadsCommand(): CliCommand {
  const group = createGroup("threads", {
    summary: "List and show Codex's threads on this machine",
    description:
      "Shows threads in CODEX_HOME: those of `codexkit run` and `chat`, the Codex CLI and editors. Without a subcommand, lists them.",
  });
  group.addCommand(list(), { isDefault: true });
  group.addCommand(print());
  return group;
}

function list(): CliCommand {
  const command = createCommand("list", {
    summary: "List threads",
    description: "Lists threads, most recently changed first. Continue one with `codexkit run --resume ID`.",
    examples: [
      ["codexkit threads", "list the newest threads"],
      ["codexkit threads list --here", "list the threads of the current folder"],
      ["codexkit threads list --search parser --json | jq -r .id", "print IDs, for a script"],
    ],
  });
  addCodexOptions(command)
    .option("--here", "only threads of the current folder")
    .option("--search <text>", "text in the title")
    .option("--archived", "archived threads instead")
    .option("--limit <count>", "maximum number of threads", parseCount, 30)
    .action(async (options: ListThreadsOptions, self: CliCommand) => {
      const { listThreads } = await import("../threads/list-threads.ts");
      await listThreads(options, openContext(self));
    });
  return command;
}

function print(): CliCommand {
  const command = createCommand("show", {
    summary: "Show a thread and the end of its history",
    description:
      "Shows a thread and the end of its history without loading it, because another program may have it open.",
    examples: [["codexkit threads show 0199a213-81c0-7800-8aa1-bbab2a035a53", "show a thread by its ID"]],
  });
  addCodexOptions(command)
    .addArgument(new Argument("<thread>", "ID of the thread"))
    .option("--turns <count>", "maximum number of turns", parseCount, 5)
    .action(async (thread: string, options: PrintThreadOptions, self: CliCommand) => {
      const { printThread } = await import("../threads/print-thread.ts");
      await printThread(thread, options, openContext(self));
    });
  return command;
}
