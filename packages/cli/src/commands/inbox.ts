import { Argument, Option } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions, type DaemonCommandOptions } from "../daemon/daemon-options.ts";
import type { AnswerOptions } from "../inbox/answer-approval.ts";
import type { ReviewOptions } from "../inbox/review-inbox.ts";
import type { ListInboxOptions } from "../inbox/list-inbox.ts";
import { collectValues, parseCount } from "../options/parse-values.ts";

const APPROVAL = "ID, or at least its first 4 characters";

export function inboxCommand(): CliCommand {
  const group = createGroup("inbox", {
    summary: "Answer approvals and questions of all sessions",
    description:
      "Manages approvals and questions of all the daemon's sessions. Without a subcommand, asks about each of them; without a terminal, lists them.",
  });
  group.addCommand(review(), { isDefault: true });
  group.addCommand(list());
  group.addCommand(print());
  group.addCommand(approve());
  group.addCommand(decline());
  return group;
}

function review(): CliCommand {
  const command = createCommand("review", {
    summary: "Answer the waiting entries one by one",
    description:
      "Shows each open or parked approval with its diff or command, the agent's reason and the policy's verdict, and asks for an answer. Skips an entry that is answered elsewhere. Without a terminal, lists these entries.",
    examples: [
      ["codexkit inbox", "answer the waiting entries"],
      ["codexkit inbox review --watch", "wait for more entries until Ctrl-C"],
    ],
  });
  addDaemonOptions(command)
    .option("--session <session>", "only entries of one session, by ID or name")
    .option("--watch", "wait for more entries instead of exiting after the last one")
    .action(async (options: ReviewOptions, self: CliCommand) => {
      const { reviewInbox } = await import("../inbox/review-inbox.ts");
      await reviewInbox(options, openContext(self));
    });
  return command;
}

function list(): CliCommand {
  const command = createCommand("list", {
    summary: "List approvals and questions",
    description:
      "Lists approvals and questions that wait for an answer, oldest first. Parked entries wait without a process, for example since the daemon was restarted, and are answered in the same way.",
    examples: [
      ["codexkit inbox list", "list open and parked entries"],
      ["codexkit inbox list --all --json | jq .state", "list closed entries too"],
    ],
  });
  addDaemonOptions(command)
    .option("--session <session>", "only entries of one session, by ID or name")
    .option("--all", "include answered and withdrawn entries")
    .option("--limit <count>", "maximum number of entries", parseCount, 100)
    .action(async (options: ListInboxOptions, self: CliCommand) => {
      const { listInbox } = await import("../inbox/list-inbox.ts");
      await listInbox(options, openContext(self));
    });
  return command;
}

function print(): CliCommand {
  const command = createCommand("show", {
    summary: "Show an approval with its diff and the policy's verdict",
    description:
      "Shows a request, its reason, the policy's verdict on each command, and the possible answers.",
    examples: [["codexkit inbox show 0199", "show an approval by the beginning of its ID"]],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<approval>", APPROVAL))
    .action(async (approval: string, options: DaemonCommandOptions, self: CliCommand) => {
      const { printApproval } = await import("../inbox/list-inbox.ts");
      await printApproval(approval, options, openContext(self));
    });
  return command;
}

function approve(): CliCommand {
  const command = createCommand("approve", {
    summary: "Approve requests or answer a question",
    description:
      "Grants approvals, by default once; --for also covers later requests. Use --answer for questions and --content for forms.",
    examples: [
      ["codexkit inbox approve 0199", "approve once"],
      ["codexkit inbox approve --for session 0199", "approve, and don't ask again in this session"],
      ["codexkit inbox approve --answer colour=blue 0199", "answer a question from the agent"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<approvals...>", "IDs, or at least their first 4 characters"))
    .addOption(
      new Option("--for <scope>", "how long the approval applies").choices(["call", "session", "always"]),
    )
    .option("--offer <offer>", "choose an offer by its name, as printed by `show`")
    .option("--answer <question=text>", "answer to a question; can be repeated", collectValues)
    .option("--content <json>", "content of a form")
    .option("--reason <text>", "reason for the audit trail")
    .action(async (approvals: readonly string[], options: AnswerOptions, self: CliCommand) => {
      const { answerApprovals } = await import("../inbox/answer-approval.ts");
      await answerApprovals(true, approvals, options, openContext(self));
    });
  return command;
}

function decline(): CliCommand {
  const command = createCommand("decline", {
    summary: "Decline requests",
    description:
      "Declines approvals, permission requests and forms. The agent continues without them unless --stop is passed.",
    examples: [
      ["codexkit inbox decline 0199", "decline, and let the agent continue"],
      ['codexkit inbox decline --stop --reason "not on main" 0199', "decline, and stop the turn"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<approvals...>", "IDs, or at least their first 4 characters"))
    .option("--stop", "stop the turn")
    .option("--offer <offer>", "choose an offer by its name, as printed by `show`")
    .option("--reason <text>", "reason for the audit trail")
    .action(async (approvals: readonly string[], options: AnswerOptions, self: CliCommand) => {
      const { answerApprovals } = await import("../inbox/answer-approval.ts");
      await answerApprovals(false, approvals, options, openContext(self));
    });
  return command;
}
