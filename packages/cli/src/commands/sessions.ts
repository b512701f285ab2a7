import { Argument, Option } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions, type DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { parseCount } from "../options/parse-values.ts";
import type { ListSessionsOptions } from "../session/list-sessions.ts";
import type { PrintSessionOptions } from "../session/print-session.ts";
import type { DeleteOptions, ExportOptions, ImportOptions } from "../session/transfer-sessions.ts";

const SESSION = "name or ID of the session, or at least the first 4 characters of the ID";

export function sessionsCommand(): CliCommand {
  const group = createGroup("sessions", {
    summary: "List, show, export, import and delete the daemon's sessions",
    description: "Manages the daemon's sessions. Without a subcommand, lists them.",
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
    description: "Lists sessions, most recently changed first.",
    examples: [
      ["codexkit sessions", "list the newest sessions"],
      ["codexkit sessions list --phase waiting", "list sessions that wait for an answer"],
      ["codexkit sessions list --search parser --json | jq -r .id", "print IDs, for a script"],
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
    .option("--limit <count>", "maximum number of sessions", parseCount, 50)
    .action(async (options: ListSessionsOptions, self: CliCommand) => {
      const { listSessions } = await import("../session/list-sessions.ts");
      await listSessions(options, openContext(self));
    });
  return command;
}

function print(): CliCommand {
  const command = createCommand("show", {
    summary: "Show a session and the end of its history",
    description:
      "Shows the settings of a session and the end of its history. With --json, prints the session and its items.",
    examples: [
      ["codexkit sessions show 0199", "show a session by the beginning of its ID"],
      ['codexkit sessions show --items 200 "Fix the parser"', "more of its history"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<session>", SESSION))
    .option("--items <count>", "maximum number of messages, commands and changes", parseCount, 30)
    .action(async (session: string, options: PrintSessionOptions, self: CliCommand) => {
      const { printSession } = await import("../session/print-session.ts");
      await printSession(session, options, openContext(self));
    });
  return command;
}

function exportSession(): CliCommand {
  const command = createCommand("export", {
    summary: "Export a session to a file",
    description:
      "Writes a session to a file: its journal, thread, settings and approvals, but not its folder. No turn may be running. The file is as confidential as the conversation.",
    examples: [
      ["codexkit sessions export 0199 -o parser.session", "export to a file"],
      ["codexkit sessions export 0199 -o - | gzip > parser.session.gz", "export to a pipe"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<session>", SESSION))
    .option("-o, --output <file>", "output file, or - for stdout (default: ID.session)")
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
      "Imports an exported session and continues its thread with this daemon. Copy its folder first. Parts of the file that would run programs are imported only with --trust.",
    examples: [
      ["codexkit sessions import parser.session", "use its original folder"],
      ["codexkit sessions import --cwd ~/projects/parser parser.session", "use another folder"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<file>", "a file from `codexkit sessions export`"))
    .option("--cwd <folder>", "folder of the session on the daemon's machine")
    .option("--name <name>", "new name of the session")
    .option(
      "--trust",
      "take over MCP servers, webhook tools, a mode without a sandbox, and given answers too",
    )
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
      "Deletes sessions and their history. Interrupts running turns. Keeps the files in their folders. Asks first; without a terminal, requires --yes.",
    examples: [
      ["codexkit sessions delete 0199", "delete a session after confirmation"],
      ["codexkit sessions delete --yes 0199a 0199b", "delete two sessions without confirmation"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<sessions...>", "names or IDs, or at least the first 4 characters of IDs"))
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
