import { Argument, Command, Option } from "commander";
import type { AdminOptions } from "./admin-client.ts";
import type { CreateTokenOptions, PrintOptions } from "./manage-registry.ts";
import { collectLimits, collectScopes, parseDuration, parseEpoch, parseListen } from "./parse-values.ts";
import type { ServeOptions } from "./serve.ts";

/** Subcommands of a group get the settings of the program too, such as how errors end it. */
class CommandGroup extends Command {
  override copyInheritedSettings(source: Command): this {
    super.copyInheritedSettings(source);
    for (const command of this.commands) command.copyInheritedSettings(source);
    return this;
  }
}

/** The commands of a registry: `registry serve`, `registry token …` and `registry environments`. */
export function registryCommands(): Command {
  const group = new CommandGroup("registry");
  group.summary("Run and manage a registry").description("Runs and manages a registry with its rendezvous.");
  group.addCommand(serveCommand());
  const token = new CommandGroup("token")
    .summary("Manage tokens")
    .description("Manages the tokens of a running registry.");
  for (const command of [createTokenCommand(), listTokensCommand(), revokeTokenCommand()])
    token.addCommand(command);
  group.addCommand(token);
  group.addCommand(environmentsCommand());
  return group;
}

function serveCommand(): Command {
  const command = new Command("serve")
    .summary("Run a registry")
    .description(
      "Runs a registry and its rendezvous until SIGINT, SIGTERM or SIGHUP, and prints its URL. An empty store gets a token with the scope admin, in a file.",
    )
    .option(
      "--store <folder|url>",
      "folder of the store, or a postgres:// URL (default: ~/.codexkit/registry)",
    )
    .option("--listen <host:port>", "address; port 0 chooses a free one", parseListen, {
      host: "127.0.0.1",
      port: 4400,
    })
    .option("--public-url <url>", "where executors and harnesses reach it (default: where it listens)")
    .option(
      "--node-url <url>",
      "where other registries of the same store reach it (default: where it listens)",
    )
    .option("--tls-cert <file>", "certificate in PEM; without it, use a proxy that terminates TLS")
    .option("--tls-key <file>", "key of the certificate in PEM")
    .option(
      "--token-file <file>",
      "file of the first token (default: admin-token in the folder of the store)",
    )
    .option("--audit-file <file>", "audit log (default: audit.log in the folder of the store, or stderr)")
    .option(
      "--limit <name=number>",
      "changes a limit; can be repeated, docs/relay.md lists them",
      collectLimits,
    )
    .addOption(
      new Option("--log-level <level>", "least important messages to log")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("warn"),
    )
    .action(async (options: ServeOptions) => {
      const { serve } = await import("./serve.ts");
      await serve(options);
    });
  for (const option of command.options) {
    if (option.long === "--listen") option.defaultValueDescription = "127.0.0.1:4400";
  }
  return command;
}

function createTokenCommand(): Command {
  return addAdminOptions(new Command("create"))
    .summary("Create a token")
    .description(
      "Creates a token and prints it. It can't be read again later: the registry stores its hash only.",
    )
    .addArgument(new Argument("<name>", "a name for lists and the audit log"))
    .requiredOption(
      "--scope <scopes>",
      "execute (executors), connect (harnesses), admin or metrics; separated by commas, or repeated",
      collectScopes,
    )
    .option("--environment <id>", "the environment that it is valid for")
    .option("--all-environments", "make it valid for all environments")
    .option(
      "--expires <duration>",
      "how long it is valid, such as 12h or 30d (default: until revoked)",
      parseDuration,
    )
    .option("--subject <text>", "on whose behalf a harness connects; with --epoch")
    .option(
      "--epoch <number>",
      "ends the tokens of the same environment and subject with lower epochs",
      parseEpoch,
    )
    .option("--json", "print JSON instead of text")
    .action(async (name: string, options: CreateTokenOptions) => {
      const { createToken } = await import("./manage-registry.ts");
      await createToken(name, options);
    });
}

function listTokensCommand(): Command {
  return addAdminOptions(new Command("list"))
    .summary("List tokens")
    .description("Lists the tokens of a registry, without the tokens themselves.")
    .option("--json", "print JSON instead of text")
    .action(async (options: PrintOptions) => {
      const { listTokens } = await import("./manage-registry.ts");
      await listTokens(options);
    });
}

function revokeTokenCommand(): Command {
  return addAdminOptions(new Command("revoke"))
    .summary("Revoke a token")
    .description("Revokes a token. Its sockets are closed.")
    .addArgument(new Argument("<id>", "ID of the token"))
    .action(async (id: string, options: AdminOptions) => {
      const { revokeToken } = await import("./manage-registry.ts");
      await revokeToken(id, options);
    });
}

function environmentsCommand(): Command {
  const list = addAdminOptions(new Command("list"))
    .summary("List environments")
    .description("Lists the environments that executors have registered for, and how many are connected.")
    .option("--json", "print JSON instead of text")
    .action(async (options: PrintOptions) => {
      const { listEnvironments } = await import("./manage-registry.ts");
      await listEnvironments(options);
    });
  return new CommandGroup("environments")
    .summary("List environments")
    .description("Environments of a running registry.")
    .addCommand(list, { isDefault: true });
}

function addAdminOptions(command: Command): Command {
  return command
    .option("--url <url>", "address of the registry", "http://127.0.0.1:4400")
    .option(
      "--token-file <file>",
      "file of a token with the scope admin (default: ~/.codexkit/registry/admin-token)",
    )
    .option(
      "--allow-insecure-http",
      "allow plain HTTP to other machines: the token can be read in the network",
    );
}
