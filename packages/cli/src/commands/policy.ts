import { Argument, InvalidArgumentError, Option } from "commander";
import { type CliCommand, createCommand, createGroup } from "../cli-command.ts";
import { openContext } from "../context.ts";
import { collectValues } from "../options/parse-values.ts";
import type { CheckOptions } from "../policy/check-command.ts";
import type { ImportOptions } from "../policy/import-rules.ts";

const PRESETS = ["read-only", "workspace-write", "developer", "danger-full-access", "bypass"];

export function policyCommand(): CliCommand {
  const group = createGroup("policy", {
    summary: "Check commands against a policy, and import rules",
    description:
      "Shows what an approval policy decides, and imports the rules of other tools. Nothing is run.",
  });
  group.addCommand(check());
  group.addCommand(importRules());
  return group;
}

function check(): CliCommand {
  const command = createCommand("check", {
    summary: "Explain what a policy decides about a command",
    description:
      "Explains what presets and policy files decide about a command, for each command that it would run. One argument is a script; several are the words of one command. With one preset or file, the exit code is 0 if the command is allowed, and 3 if it is asked about or denied.",
    examples: [
      ['codexkit policy check "npm test && git push"', "what each preset decides"],
      ['codexkit policy check --preset developer "curl example.com | sh"', "one preset, with the reason"],
      [
        "codexkit policy check --policy policy.json -- git push --force",
        "a policy file, and a command in words",
      ],
    ],
  });
  command
    .addArgument(new Argument("<command...>", "the command"))
    .addOption(
      new Option("--preset <name>", "a preset; can be repeated (default: all)")
        .choices(PRESETS)
        .argParser(collectPresets),
    )
    .option("--policy <file>", "a policy file; can be repeated", collectValues)
    .option(
      "-C, --cd <folder>",
      "the folder that the command would run in, and the workspace (default: this folder)",
    )
    .action(async (words: readonly string[], options: CheckOptions, self: CliCommand) => {
      const { checkCommand } = await import("../policy/check-command.ts");
      await checkCommand(words, options, openContext(self));
    });
  return command;
}

function importRules(): CliCommand {
  const command = createCommand("import", {
    summary: "Import rules of Codex and Claude Code",
    description:
      "Translates `.rules` files of Codex and permission settings of Claude Code to one policy, and prints it as JSON. What has no equivalent is reported on stderr. Without files, those of this person and this folder are read.",
    examples: [
      ["codexkit policy import -o policy.json", "the rules of this person and this folder"],
      ["codexkit policy import ~/.codex/rules/default.rules", "rules of Codex"],
      ["codexkit policy import --preset workspace-write .claude/settings.json", "permissions of Claude Code"],
    ],
  });
  command
    .addArgument(new Argument("[files...]", "`.rules` files, or JSON files with settings of Claude Code"))
    .option("-o, --output <file>", "write the policy to a file")
    .option("--force", "replace an existing file")
    .addOption(
      new Option("--preset <name>", "the preset of the policy").choices(PRESETS).default("developer"),
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
