import { Argument } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { addCodexOptions } from "../codex/codex-options.ts";
import { openContext } from "../context.ts";
import { parseCount } from "../options/parse-values.ts";
import type { ListThreadsOptions } from "../threads/list-threads.ts";
import type { PrintThreadOptions } from "../threads/print-thread.ts";

export function threadsCommand(): CliCommand {
  const group = createGroup("threads", {
    summary: "List and show threads of Codex on this machine",
    description:
      "Threads in CODEX_HOME: those of `codexkit run` and `chat`, of the Codex CLI and of editors. Without a subcommand, lists them.",
  });
  group.addCommand(list(), { isDefault: true });
  group.addCommand(print());
  return group;
}

function list(): CliCommand {
  const command = createCommand("list", {
    summary: "List threads",
    description:
      "Lists threads, the most recently changed ones first. Continue one with `codexkit run --resume ID`.",
    examples: [
      ["codexkit threads", "the newest threads"],
      ["codexkit threads list --here", "those of this folder"],
      ["codexkit threads list --search parser --json | jq -r .id", "IDs, for a script"],
    ],
  });
  addCodexOptions(command)
    .option("--here", "only threads of this folder")
    .option("--search <text>", "text in the title")
    .option("--archived", "archived threads instead")
    .option("--limit <count>", "how many at most", parseCount, 30)
    .action(async (options: ListThreadsOptions, self: CliCommand) => {
      const { listThreads } = await import("../threads/list-threads.ts");
      await listThreads(options, openContext(self));
    });
  return command;
}

function print(): CliCommand {
  const command = createCommand("show", {
    summary: "Show a thread with the end of its history",
    description:
      "Shows a thread and the end of its history, without loading it: another program may have it open.",
    examples: [["codexkit threads show 0199a213-81c0-7800-8aa1-bbab2a035a53", "by its ID"]],
  });
  addCodexOptions(command)
    .addArgument(new Argument("<thread>", "ID of the thread"))
    .option("--turns <count>", "how many turns at most", parseCount, 5)
    .action(async (thread: string, options: PrintThreadOptions, self: CliCommand) => {
      const { printThread } = await import("../threads/print-thread.ts");
      await printThread(thread, options, openContext(self));
    });
  return command;
}
