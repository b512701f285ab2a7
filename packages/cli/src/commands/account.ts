import { type CliCommand, createCommand } from "../cli-command.ts";
import { addCodexOptions, type CodexCommandOptions } from "../codex/codex-options.ts";
import { openContext } from "../context.ts";
import type { LoginOptions } from "../account/login.ts";
import type { ListModelsOptions } from "../account/list-models.ts";

export function modelsCommand(): CliCommand {
  const command = createCommand("models", {
    summary: "List the models that Codex offers",
    description: "Lists the models that Codex offers, with their efforts. Works without credentials.",
    examples: [
      ["codexkit models", "models that a picker shows"],
      ["codexkit models --json | jq -r .model", "names for --model"],
    ],
  });
  addCodexOptions(command)
    .option("--hidden", "include models that a picker does not show")
    .action(async (options: ListModelsOptions, self: CliCommand) => {
      const { listModels } = await import("../account/list-models.ts");
      await listModels(options, openContext(self));
    });
  return command;
}

export function loginCommand(): CliCommand {
  const command = createCommand("login", {
    summary: "Sign in to a model",
    description:
      "Signs in with a ChatGPT account in a browser, or with an API key. Codex stores the credentials in CODEX_HOME, where its other programs find them. Restart a running daemon afterwards.",
    examples: [
      ["codexkit login", "in a browser on this machine"],
      ["codexkit login --device", "with a code, in a browser on any machine"],
      [
        "codexkit login --api-key < key.txt",
        "with an API key from a file; on a terminal, prompts for the key",
      ],
    ],
  });
  command
    .option("--api-key", "read an API key from stdin, or prompt for it on a terminal")
    .option("--device", "sign in with a code in a browser on any machine")
    .action(async (options: LoginOptions, self: CliCommand) => {
      const { login } = await import("../account/login.ts");
      await login(options, openContext(self));
    });
  return command;
}

export function logoutCommand(): CliCommand {
  const command = createCommand("logout", {
    summary: "Sign out and delete Codex's credentials",
    description:
      "Signs out and deletes the credentials in CODEX_HOME. Codex's other programs are signed out too.",
    examples: [["codexkit logout", "sign out"]],
  });
  command.action(async (_options: unknown, self: CliCommand) => {
    const { logout } = await import("../account/login.ts");
    await logout(openContext(self));
  });
  return command;
}

export function accountCommand(): CliCommand {
  const command = createCommand("account", {
    summary: "Show the account that Codex uses, and its limits",
    description:
      "Shows the account that Codex uses, and the rate limits of a ChatGPT account. Exits with 1 if an account is required and none is signed in.",
    examples: [["codexkit account", "who is signed in"]],
  });
  addCodexOptions(command).action(async (options: CodexCommandOptions, self: CliCommand) => {
    const { printAccount } = await import("../account/print-account.ts");
    await printAccount(options, openContext(self));
  });
  return command;
}
