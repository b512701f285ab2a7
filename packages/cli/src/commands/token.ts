import { Argument } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { addDaemonOptions, type DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { collectScopes, parseLifetime } from "../options/parse-values.ts";
import type { CreateTokenOptions, RevokeTokenOptions } from "../token/manage-tokens.ts";

export function tokenCommand(): CliCommand {
  const group = createGroup("token", {
    summary: "Create, list and revoke the daemon's tokens",
    description: "Manages the daemon's tokens. Requires a token with the scope admin.",
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
      "Creates a token and prints it. It can't be shown again, because the daemon stores only its hash. A token with the scope write can run commands on the daemon's machine.",
    examples: [
      ["codexkit token create laptop", "create a token with all scopes except admin"],
      ["codexkit token create --scope read --expires 7d dashboard", "create a read-only token for a week"],
      [
        "codexkit token create --scope read,approve phone > phone.token",
        "create a token that can answer approvals",
      ],
    ],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<name>", "name for lists and the audit trail"))
    .option(
      "--scope <scopes>",
      "read, write, approve or admin; comma-separated or repeated (default: read,write,approve)",
      collectScopes,
    )
    .option(
      "--expires <duration>",
      "how long the token is valid, such as 12h or 90d (default: until revoked)",
      parseLifetime,
    )
    .option("--tenant <name>", "tenant to which the sessions of this token belong (default: default)")
    .action(async (name: string, options: CreateTokenOptions, self: CliCommand) => {
      const { createToken } = await import("../token/manage-tokens.ts");
      await createToken(name, options, openContext(self));
    });
  return command;
}

function list(): CliCommand {
  const command = createCommand("list", {
    summary: "List tokens",
    description: "Lists the daemon's tokens, without their secrets.",
    examples: [["codexkit token list", "list all tokens, including revoked ones"]],
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
      "Revokes tokens by ID or name, and ends their streams immediately. Revokes the token of this command only with --yes.",
    examples: [["codexkit token revoke laptop", "revoke a token by name"]],
  });
  addDaemonOptions(command)
    .addArgument(new Argument("<token...>", "IDs or names"))
    .option("-y, --yes", "also revoke the token of this command")
    .action(async (tokens: readonly string[], options: RevokeTokenOptions, self: CliCommand) => {
      const { revokeTokens } = await import("../token/manage-tokens.ts");
      await revokeTokens(tokens, options, openContext(self));
    });
  return command;
}
