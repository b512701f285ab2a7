import { Argument } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions, type DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { collectScopes, parseDuration } from "../options/parse-values.ts";
import type { CreateTokenOptions, RevokeTokenOptions } from "../token/manage-tokens.ts";

export function tokenCommand(): CliCommand {
  const group = createGroup("token", {
    summary: "Create, list and revoke tokens of the daemon",
    description: "Manages the tokens of the daemon. Needs a token with the scope admin.",
  });
  group.addCommand(create());
  group.addCommand(list());
  group.addCommand(revoke());
  return group;
}

function create(): CliCommand {
  const command = createCommand("create", {
    summary: "Create a token",
    description:
      "Creates a token and prints it. It can't be read again later: the daemon stores its hash only. A token with the scope write can run commands on the daemon's machine.",
    examples: [
      ["codexkit token create laptop", "a token with all scopes but admin"],
      ["codexkit token create --scope read --expires 7d dashboard", "one that can only read, for a week"],
      ["codexkit token create --scope read,approve phone > phone.token", "one that can answer approvals"],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<name>", "a name for lists and the audit trail"))
    .option(
      "--scope <scopes>",
      "read, write, approve or admin; separated by commas, or repeated (default: read,write,approve)",
      collectScopes,
    )
    .option(
      "--expires <duration>",
      "how long it is valid, such as 12h or 7d (default: until it is revoked)",
      parseDuration,
    )
    .option("--tenant <name>", "tenant that the sessions of this token count for (default: default)")
    .action(async (name: string, options: CreateTokenOptions, self: CliCommand) => {
      const { createToken } = await import("../token/manage-tokens.ts");
      await createToken(name, options, openContext(self));
    });
  return command;
}

function list(): CliCommand {
  const command = createCommand("list", {
    summary: "List tokens",
    description: "Lists the tokens of the daemon, without the tokens themselves.",
    examples: [["codexkit token list", "all tokens, revoked ones included"]],
  });
  addDaemonOptions(command).action(async (options: DaemonCommandOptions, self: CliCommand) => {
    const { listTokens } = await import("../token/manage-tokens.ts");
    await listTokens(options, openContext(self));
  });
  return command;
}

function revoke(): CliCommand {
  const command = createCommand("revoke", {
    summary: "Revoke tokens",
    description:
      "Revokes tokens by their ID or their name. Their streams end at once. The token that the command itself uses is revoked with --yes only.",
    examples: [["codexkit token revoke laptop", "revoke the token with this name"]],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<token...>", "IDs or names"))
    .option("-y, --yes", "revoke the token of this command too")
    .action(async (tokens: readonly string[], options: RevokeTokenOptions, self: CliCommand) => {
      const { revokeTokens } = await import("../token/manage-tokens.ts");
      await revokeTokens(tokens, options, openContext(self));
    });
  return command;
}
