import {
  definePolicy,
  type ImportedRules,
  importClaudeSettings,
  importCodexRules,
  type PresetName,
  type RuleInput,
  type Untranslated,
} from "@codexkit/approvals";
import { existsSync, globSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type CliContext, printJson } from "../context.ts";
import { CliError, EXIT, usageError } from "../errors/cli-error.ts";
import { revealText } from "../terminal/sanitize.ts";
import { readJson, readText } from "./read-policy-file.ts";

export interface ImportOptions {
  readonly output?: string;
  readonly force?: boolean;
  readonly preset: PresetName;
}

interface ReportedRule extends Untranslated {
  readonly file: string;
}

interface MergedRules {
  readonly preset: PresetName;
  readonly deny: readonly RuleInput[];
  readonly ask: readonly RuleInput[];
  readonly additionalAllow: readonly RuleInput[];
  readonly network: ImportedRules["policy"]["network"];
}

/** Implements `codexkit policy import`. */
export async function importPolicy(
  given: readonly string[],
  { output, force = false, preset }: ImportOptions,
  context: CliContext,
): Promise<void> {
  if (output !== undefined && !force && existsSync(output)) {
    throw usageError(
      `The file ${output} already exists.`,
      "Replace it with --force, or choose another file with -o.",
    );
  }
  const files = given.length > 0 ? given : findRuleFiles(context.env);
  if (files.length === 0) {
    throw usageError(
      "No Codex rules and no Claude Code settings were found.",
      "Pass the files: codexkit policy import default.rules settings.json",
    );
  }
  const imported = await Promise.all(files.map(async (file) => ({ file, ...(await importFile(file)) })));
  const policy: MergedRules = {
    preset,
    deny: imported.flatMap((each) => each.policy.deny ?? []),
    ask: imported.flatMap((each) => each.policy.ask ?? []),
    additionalAllow: imported.flatMap((each) => each.policy.additionalAllow ?? []),
    network: {
      allow: imported.flatMap((each) => each.policy.network.allow),
      deny: imported.flatMap((each) => each.policy.network.deny),
    },
  };
  // Contradictions between rules of different files are found here.
  definePolicy(policy);
  const untranslated: ReportedRule[] = imported.flatMap(({ file, untranslated: rules }) =>
    rules.map((rule) => ({ file, ...rule })),
  );
  await writePolicy(policy, output, context);
  if (context.json) printJson(context, { policy, untranslated, files });
  else report(policy, untranslated, files, context);
}

/** Finds the files in which Codex and Claude Code keep the rules of the user and the project. */
function findRuleFiles(env: NodeJS.ProcessEnv): string[] {
  const codexHome = env["CODEX_HOME"] || join(homedir(), ".codex");
  const rules = globSync("rules/*.rules", { cwd: codexHome }).map((name) => join(codexHome, name));
  const settings = globSync([".claude/settings.json", ".claude/settings.local.json"]).map((name) =>
    resolve(name),
  );
  const personal = globSync(".claude/settings.json", { cwd: homedir() }).map((name) => join(homedir(), name));
  return [...new Set([...rules.toSorted(), ...personal, ...settings])];
}

async function importFile(file: string): Promise<ImportedRules> {
  try {
    if (file.endsWith(".json"))
      return importClaudeSettings(await readJson(file, "file"), { home: homedir() });
    return importCodexRules(await readText(file, "file"));
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw usageError(
      `${file} can't be imported: ${(error as Error).message}`,
      "Correct the file or leave it out.",
    );
  }
}

async function writePolicy(
  policy: object,
  output: string | undefined,
  { stdout, json }: CliContext,
): Promise<void> {
  const text = `${JSON.stringify(policy, undefined, 2)}\n`;
  if (output === undefined) {
    if (!json) stdout.write(text);
    return;
  }
  try {
    await writeFile(output, text);
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw new CliError(EXIT.failed, `The policy can't be written to ${output} (${code}).`, { cause: error });
  }
}

/** Printed to stderr, so that the policy can be piped. */
function report(
  { deny, ask, additionalAllow, network }: MergedRules,
  untranslated: readonly ReportedRule[],
  files: readonly string[],
  { stderr, errorStyle: style }: CliContext,
): void {
  const counts = [
    `${deny.length + network.deny.length} deny`,
    `${ask.length} ask`,
    `${additionalAllow.length + network.allow.length} allow`,
  ];
  const lines = [
    `Imported ${counts.join(", ")} from ${files.map((file) => revealText(file)).join(", ")}.`,
    ...(untranslated.length > 0 ? [style.yellow(`${untranslated.length} without an equivalent:`)] : []),
    ...untranslated.map(
      ({ file, source, reason }) =>
        `  ${style.dim(`${revealText(file)}:`)} ${revealText(source).replaceAll("\n", "⏎")}\n    ${revealText(reason)}`,
    ),
  ];
  stderr.write(`${lines.join("\n")}\n`);
}
