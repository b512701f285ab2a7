import { Argument, InvalidArgumentError, Option } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { collectValues } from "../options/parse-values.ts";
import type { CheckOptions } from "../policy/check-command.ts";
import type { ImportOptions } from "../policy/import-rules.ts";

const PRESETS = ["read-only", "workspace-write", "developer", "danger-full-access", "bypass"];

export function policyCommand(): CliCommand {
  const group = createGroup("policy", {
    summary: "Check commands against a policy and import rules",
    description:
      "Shows what an approval policy decides, and imports rules from other tools. Does not run any command.",
  });
  group.addCommand(check());
  group.addCommand(importRules());
  return group;
}

function check(): CliCommand {
  const command = createCommand("check", {
    summary: "Explain what a policy decides about a command",
    description:
      "Explains what presets and policy files decide about a command and about each command that it would run. A single argument is a script; several are the words of one command. With one preset or file, exits with 0 if the command is allowed, and with 3 if the user would be asked or the command is denied.",
    examples: [
      ['codexkit policy check "npm test && git push"', "show what each preset decides"],
      [
        'codexkit policy check --preset developer "curl example.com | sh"',
        "show the decision and the reason of one preset",
      ],
      [
        "codexkit policy check --policy policy.json -- git push --force",
        "check the words of a command against a policy file",
      ],
    ],
  });
  command
    .addArgument(new Argument("<command...>", "the command"))
    .addOption(
      new Option("--preset <name>", "preset to check; can be repeated (default: all)")
        .choices(PRESETS)
        .argParser(collectPresets),
    )
    .option("--policy <file>", "policy file to check; can be repeated", collectValues)
    .option(
      "-C, --cd <folder>",
      "working directory of the command, and the workspace (default: the current folder)",
    )
    .action(async (words: readonly string[], options: CheckOptions, self: CliCommand) => {
      const { checkCommand } = await import("../policy/check-command.ts");
      await checkCommand(words, options, openContext(self));
    });
  return command;
}

function importRules(): CliCommand {
  const command = createCommand("import", {
    summary: "Import rules from Codex and Claude Code",
    description:
      "Translates Codex's `.rules` files and Claude Code's permission settings to one policy, and prints it as JSON. Reports rules without an equivalent on stderr. Without files, reads those of the user and the current folder.",
    examples: [
      ["codexkit policy import -o policy.json", "import the rules of the user and the current folder"],
      ["codexkit policy import ~/.codex/rules/default.rules", "import rules from Codex"],
      [
        "codexkit policy import --preset workspace-write .claude/settings.json",
        "import permissions from Claude Code",
      ],
    ],
  });
  command
    .addArgument(new Argument("[files...]", "`.rules` files, or JSON files with Claude Code settings"))
    .option("-o, --output <file>", "write the policy to a file")
    .option("--force", "replace an existing file")
    .addOption(
      new Option("--preset <name>", "base preset of the policy").choices(PRESETS).default("developer"),
    )
    .action(async (files: readonly string[], options: ImportOptions, self: CliCommand) => {
      const { importPolicy } = await import("../policy/import-rules.ts");
      await importPolicy(files, options, openContext(self));
    });
  return command;
}

function collectPresets(value: string, previous: readonly string[] | undefined): readonly string[] {
  if (!PRESETS.includes(value)) throw new InvalidArgumentError(`Allowed choices are ${PRESETS.join(", ")}.`);
  return collectValues(value, previous);
}
