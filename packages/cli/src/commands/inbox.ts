import { Argument, Option } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions, type DaemonCommandOptions } from "../daemon/daemon-options.ts";
import type { AnswerOptions } from "../inbox/answer-approval.ts";
import type { ReviewOptions } from "../inbox/review-inbox.ts";
import type { ListInboxOptions } from "../inbox/list-inbox.ts";
import { collectValues, parseCount } from "../options/parse-values.ts";

const APPROVAL = "ID, or the first 4 or more characters of one";

export function inboxCommand(): CliCommand {
  const group = createGroup("inbox", {
    summary: "Answer approvals and questions of all sessions",
    description:
      "Approvals and questions of all sessions of the daemon. Without a subcommand, asks about each of them on a terminal, and lists them elsewhere.",
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
    summary: "Ask about each open entry on the terminal",
    description:
      "Shows each open approval with its diff or command, the reason of the agent and the verdict of the policy, and asks. An entry that is answered elsewhere disappears. Without a terminal, lists the open entries.",
    examples: [
      ["codexkit inbox", "answer what is open"],
      ["codexkit inbox review --watch", "wait for more, until Ctrl-C"],
    ],
  });
  addDaemonOptions(command)
    .option("--session <session>", "only those of one session: its ID, or the name")
    .option("--watch", "wait for more, instead of ending after the last one")
    .action(async (options: ReviewOptions, self: CliCommand) => {
      const { reviewInbox } = await import("../inbox/review-inbox.ts");
      await reviewInbox(options, openContext(self));
    });
  return command;
}

function list(): CliCommand {
  const command = createCommand("list", {
    summary: "List approvals and questions",
    description: "Lists open approvals and questions, oldest first.",
    examples: [
      ["codexkit inbox list", "what is open"],
      ["codexkit inbox list --all --json | jq .state", "everything that was ever asked"],
    ],
  });
  addDaemonOptions(command)
    .option("--session <session>", "only those of one session: its ID, or the name")
    .option("--all", "answered and withdrawn ones too")
    .option("--limit <count>", "how many at most", parseCount, 100)
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
      "Shows what is asked, why, the verdict of the policy for each command, and the possible answers.",
    examples: [["codexkit inbox show 0199", "by the beginning of its ID"]],
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
    summary: "Approve requests, or answer a question",
    description:
      "Grants approvals. By default they are granted once; --for chooses an offer that is remembered. Questions take --answer, forms --content.",
    examples: [
      ["codexkit inbox approve 0199", "grant it once"],
      ["codexkit inbox approve --for session 0199", "and don't ask again in this session"],
      ["codexkit inbox approve --answer colour=blue 0199", "answer a question of the agent"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<approvals...>", "IDs, or the first 4 or more characters of them"))
    .addOption(
      new Option("--for <scope>", "how long it is remembered").choices(["call", "session", "always"]),
    )
    .option("--offer <offer>", "an offer by its name, as `show` prints it")
    .option("--answer <question=text>", "answer of a question; can be repeated", collectValues)
    .option("--content <json>", "contents of a form")
    .option("--reason <text>", "reason, for the audit trail")
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
      "Declines approvals, permission requests and forms. The agent goes on without them, unless --stop is passed.",
    examples: [
      ["codexkit inbox decline 0199", "the agent continues without it"],
      ['codexkit inbox decline --stop --reason "not on main" 0199', "and interrupts the turn"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<approvals...>", "IDs, or the first 4 or more characters of them"))
    .option("--stop", "stop the turn")
    .option("--offer <offer>", "an offer by its name, as `show` prints it")
    .option("--reason <text>", "reason, for the audit trail")
    .action(async (approvals: readonly string[], options: AnswerOptions, self: CliCommand) => {
      const { answerApprovals } = await import("../inbox/answer-approval.ts");
      await answerApprovals(false, approvals, options, openContext(self));
    });
  return command;
}
