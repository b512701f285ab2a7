import { Command, InvalidArgumentError, Option } from "commander";
import { createRequire } from "node:module";
import { registryCommands } from "../registry/commands/registry-commands.ts";
import type { ExecutorFlags, ForwardFlags } from "./executor-flags.ts";

/** Defines the command line. The implementation of a command is loaded when the command runs. */
export function createProgram(): Command {
  const program = new Command("codexkit-relay")
    .description("Runs Codex's commands on a machine that a registry and a rendezvous make reachable.")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .showHelpAfterError("Run the command with --help to see its options.")
    .exitOverride();
  addCommand(program, executorCommand());
  addCommand(program, forwardCommand());
  addCommand(program, registryCommands());
  addCommand(program, identityCommand());
  return program;
}

/** `addCommand` does not copy settings, while `command` would. */
function addCommand(program: Command, command: Command): void {
  inheritSettings(command, program);
  program.addCommand(command);
}

function inheritSettings(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent).helpOption("-h, --help", "print help");
  for (const child of command.commands) inheritSettings(child, command);
}

function executorCommand(): Command {
  const command = addSharedOptions(
    new Command("executor")
      .summary("Serve this machine as the executor of an environment")
      .description(
        "Registers this machine as the executor of an environment, and runs the commands of harnesses that connect to it " +
          "through the rendezvous. They are encrypted end to end. It reconnects until it is stopped.",
      ),
  );
  command
    .addOption(
      new Option(
        "--remote-transport <transport>",
        "noise is encrypted end to end; direct is plain JSON-RPC to the peer",
      )
        .choices(["noise", "direct"])
        .default("noise"),
    )
    .option("--aws-sigv4", "sign requests of the direct transport with AWS Signature Version 4")
    .option("--aws-profile <name>", "profile with the AWS keys")
    .option("--aws-region <region>", "AWS region")
    .option("--aws-service <name>", "AWS service (default: execute-api)")
    .option("--concurrent-requests <n>", "concurrent requests per connection", wholeNumber)
    .option(
      "--bwrap <path>",
      "bubblewrap binary for sandboxes (default: the system's, or the one in @openai/codex)",
    )
    .addHelpText(
      "after",
      examples([
        [
          "serve this machine",
          "codexkit-relay executor --remote https://relay.example --environment-id box --token-file token",
        ],
        [
          "keep the public key across restarts",
          "codexkit-relay executor --remote https://relay.example --environment-id box --identity-file box.key",
        ],
      ]),
    )
    .action(async (flags: ExecutorFlags) => {
      requireFlags(command, ["remote", "environmentId"]);
      const { serveExecutor } = await import("./serve-executor.ts");
      await serveExecutor(flags);
    });
  return command;
}

function forwardCommand(): Command {
  const command = addSharedOptions(
    new Command("forward")
      .summary("Serve a running exec-server")
      .description(
        "Same as executor, but each stream is forwarded to an exec-server over its own WebSocket.",
      ),
  );
  command
    .option("--connect <url>", "WebSocket URL of the exec-server (required)")
    .option("--connect-token-file <path>", "file with the bearer token of the exec-server")
    .addHelpText(
      "after",
      examples([
        [
          "serve Codex's own exec-server",
          "codexkit-relay forward --connect ws://127.0.0.1:4500 --remote https://relay.example --environment-id box",
        ],
      ]),
    )
    .action(async (flags: ForwardFlags) => {
      requireFlags(command, ["remote", "environmentId", "connect"]);
      const { serveExecutor } = await import("./serve-executor.ts");
      await serveExecutor(flags);
    });
  return command;
}

function identityCommand(): Command {
  const command = new Command("identity");
  return command
    .summary("Print the public key of an executor")
    .description(
      "Prints the public key in an identity file as JSON, for harnesses that pin it. Creates the file if it is missing.",
    )
    .option("--identity-file <path>", "file with the private keys (required)")
    .addHelpText(
      "after",
      examples([["the key for `executorKey`", "codexkit-relay identity --identity-file box.key"]]),
    )
    .action(async ({ identityFile }: { identityFile: string }) => {
      requireFlags(command, ["identityFile"]);
      const { openIdentityFile } = await import("../executor/identity-file.ts");
      const { toPublicKeyJson } = await import("../noise/identity.ts");
      const identity = await openIdentityFile(identityFile);
      process.stdout.write(`${JSON.stringify(toPublicKeyJson(identity.publicKey))}\n`);
    });
}

/** Commander checks for missing options before it checks for misspelt ones, which are usually the reason. */
function requireFlags(command: Command, names: readonly string[]): void {
  for (const name of names) {
    if (command.getOptionValue(name) !== undefined) continue;
    const flags = command.options.find((option) => option.attributeName() === name)?.flags ?? name;
    command.error(`error: required option '${flags}' not specified`);
  }
}

function addSharedOptions(command: Command): Command {
  return command
    .option("--remote <url>", "base URL of the registry (required)")
    .option("--environment-id <id>", "environment to register for (required)")
    .option("--name <name>", "name of this executor in its log")
    .option(
      "--token-file <path>",
      "file with a token of the registry (default: CODEXKIT_RELAY_TOKEN, CODEX_API_KEY, Codex's login)",
    )
    .option("--executor-credential-stdin", "read rotating credentials from stdin; exit when the pipe closes")
    .option("--use-agent-identity-auth", "not supported: see docs/relay.md")
    .option(
      "--identity-file <path>",
      "file with the private keys; created if it is missing (default: new keys per start)",
    )
    .option("--allow-insecure-http", "allow plain HTTP to other machines: tokens can be read in the network")
    .addOption(
      new Option("--exit-on-stdin-close", "exit when the parent closes stdin").env(
        "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE",
      ),
    )
    .addOption(
      new Option("--log-level <level>", "level of the JSON lines on stderr")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("warn"),
    );
}

function examples(lines: readonly (readonly [comment: string, commandLine: string])[]): string {
  return ["", "Examples:", ...lines.flatMap(([comment, line]) => [`  # ${comment}`, `  ${line}`])].join("\n");
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError("Expected a whole number of at least 1.");
}

function packageVersion(): string {
  const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
  return version;
}
