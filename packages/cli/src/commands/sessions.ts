import { Argument, Option } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions, type DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { parseCount } from "../options/parse-values.ts";
import type { ListSessionsOptions } from "../session/list-sessions.ts";
import type { PrintSessionOptions } from "../session/print-session.ts";
import type { DeleteOptions, ExportOptions, ImportOptions } from "../session/transfer-sessions.ts";

const SESSION = "name or ID of the session, or the first 4 or more characters of the ID";

export function sessionsCommand(): CliCommand {
  const group = createGroup("sessions", {
    summary: "List, show, export, import and delete sessions of the daemon",
    description: "Manages the sessions of the daemon. Without a subcommand, lists them.",
  });
  group.addCommand(list(), { isDefault: true });
  group.addCommand(print());
  group.addCommand(exportSession());
  group.addCommand(importSession());
  group.addCommand(remove());
  return group;
}

function list(): CliCommand {
  const command = createCommand("list", {
    summary: "List sessions",
    description: "Lists sessions, the most recently changed ones first.",
    examples: [
      ["codexkit sessions", "the newest ones"],
      ["codexkit sessions list --phase waiting", "those that wait for an answer of a person"],
      ["codexkit sessions list --search parser --json | jq -r .id", "IDs, for a script"],
    ],
  });
  addDaemonOptions(command)
    .option("--search <text>", "text in the name, the folder or the newest message")
    .addOption(
      new Option("--phase <phase>", "only sessions in this phase").choices([
        "ready",
        "running",
        "waiting",
        "parked",
        "idle",
        "stranded",
        "moving",
        "failed",
      ]),
    )
    .option("--archived", "archived sessions instead")
    .option("--limit <count>", "how many at most", parseCount, 50)
    .action(async (options: ListSessionsOptions, self: CliCommand) => {
      const { listSessions } = await import("../session/list-sessions.ts");
      await listSessions(options, openContext(self));
    });
  return command;
}

function print(): CliCommand {
  const command = createCommand("show", {
    summary: "Show a session with the end of its history",
    description:
      "Shows the settings of a session and the end of its history. With --json, the session and its items.",
    examples: [
      ["codexkit sessions show 0199", "by the beginning of its ID"],
      ['codexkit sessions show --items 200 "Fix the parser"', "more of its history"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<session>", SESSION))
    .option("--items <count>", "how many messages, commands and changes at most", parseCount, 30)
    .action(async (session: string, options: PrintSessionOptions, self: CliCommand) => {
      const { printSession } = await import("../session/print-session.ts");
      await printSession(session, options, openContext(self));
    });
  return command;
}

function exportSession(): CliCommand {
  const command = createCommand("export", {
    summary: "Export a session as one file",
    description:
      "Writes a session to a file: its journal, thread, settings and approvals. Its folder is not part of it. The turn must have ended. Treat the file as you treat the conversation.",
    examples: [
      ["codexkit sessions export 0199 -o parser.session", "to a file"],
      ["codexkit sessions export 0199 -o - | gzip > parser.session.gz", "to a pipe"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<session>", SESSION))
    .option("-o, --output <file>", "the file, or - for stdout (default: ID.session)")
    .option("--force", "replace an existing file")
    .action(async (session: string, options: ExportOptions, self: CliCommand) => {
      const { exportSession: run } = await import("../session/transfer-sessions.ts");
      await run(session, options, openContext(self));
    });
  return command;
}

function importSession(): CliCommand {
  const command = createCommand("import", {
    summary: "Import an exported session",
    description:
      "Imports an exported session. Its thread continues with this daemon. Copy its folder first. Parts of the file that would run programs are taken over only with --trust.",
    examples: [
      ["codexkit sessions import parser.session", "in the folder that it had"],
      ["codexkit sessions import --cwd ~/projects/parser parser.session", "in another folder"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<file>", "a file of `codexkit sessions export`"))
    .option("--cwd <folder>", "its folder on the daemon's machine")
    .option("--name <name>", "another name")
    .option("--trust", "take over MCP servers, a mode without a sandbox, and given answers too")
    .action(async (file: string, options: ImportOptions, self: CliCommand) => {
      const { importSession: run } = await import("../session/transfer-sessions.ts");
      await run(file, options, openContext(self));
    });
  return command;
}

function remove(): CliCommand {
  const command = createCommand("delete", {
    summary: "Delete sessions and their history",
    description:
      "Deletes sessions with their history. Running turns are interrupted. Files in their folders stay. Asks first; without a terminal, it needs --yes.",
    examples: [
      ["codexkit sessions delete 0199", "delete one, after a question"],
      ["codexkit sessions delete --yes 0199a 0199b", "delete two without a question"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<sessions...>", "names or IDs, or the first 4 or more characters of IDs"))
    .option("-y, --yes", "don't ask")
    .action(
      async (
        sessions: readonly string[],
        options: DeleteOptions & DaemonCommandOptions,
        self: CliCommand,
      ) => {
        const { deleteSessions } = await import("../session/transfer-sessions.ts");
        await deleteSessions(sessions, options, openContext(self));
      },
    );
  return command;
}
