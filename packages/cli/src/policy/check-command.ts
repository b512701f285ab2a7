import {
  definePolicy,
  explain,
  type Explanation,
  type Policy,
  type PresetName,
  resolvePaths,
} from "@codexkit/approvals";
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { type CliContext, printJson } from "../context.ts";
import { EXIT, SilentExit, usageError } from "../errors/cli-error.ts";
import { revealText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";
import { padText, textWidth } from "../terminal/width.ts";
import { readPolicyFile } from "./read-policy-file.ts";

export interface CheckOptions {
  readonly preset?: readonly PresetName[];
  readonly policy?: readonly string[];
  readonly cd?: string;
}

const ALL: readonly PresetName[] = [
  "read-only",
  "workspace-write",
  "developer",
  "danger-full-access",
  "bypass",
];

/** Implements `codexkit policy check`. */
export async function checkCommand(
  words: readonly string[],
  { preset, policy: files, cd }: CheckOptions,
  context: CliContext,
): Promise<void> {
  const cwd = resolveFolder(cd);
  const workspace = { roots: [cwd], home: homedir() };
  const presets = preset ?? (files === undefined ? ALL : []);
  const policies: [name: string, policy: Policy][] = [
    ...presets.map((name): [string, Policy] => [name, definePolicy({ preset: name, workspace })]),
    ...(await Promise.all(
      (files ?? []).map(async (file): Promise<[string, Policy]> => [
        file,
        await readPolicyFile(file, { workspace }),
      ]),
    )),
  ];
  const [script = ""] = words;
  const command = words.length === 1 ? script : words;
  const results: [name: string, explanation: Explanation][] = [];
  for (const [name, policy] of policies) {
    const facts = await resolvePaths(policy, { kind: "command", command, cwd });
    results.push([name, explain(policy, command, { cwd, facts })]);
  }
  if (context.json)
    for (const [policy, explanation] of results) printJson(context, { policy, ...explanation });
  else context.stdout.write(`${formatResults(results, context.style).join("\n")}\n`);
  const [only, ...others] = results;
  if (only && others.length === 0 && only[1].decision !== "allow") throw new SilentExit(EXIT.denied);
}

function resolveFolder(folder = "."): string {
  const path = resolve(folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw usageError(`The folder ${path} does not exist.`, "Pass an existing folder with --cd.");
}

/** Formats one line per policy, followed by its verdict on each command. */
function formatResults(results: readonly (readonly [string, Explanation])[], style: Style): string[] {
  const width = Math.max(...results.map(([name]) => textWidth(name)));
  return results.flatMap(([name, { decision, rule, reason, children }]) => {
    const line = `${paint(decision, style)} ${padText(name, width)}  ${formatReason(rule, reason, style)}`;
    // A single command has the same verdict as the whole script.
    const isSingle = children.length === 1 && children[0]?.children.length === 0;
    return [line, ...(isSingle ? [] : children.flatMap((child) => formatCommand(child, style, "    ")))];
  });
}

function formatCommand(
  { command, decision, rule, reason, children }: Explanation,
  style: Style,
  indent: string,
): string[] {
  const text = revealText(command).replaceAll("\n", "⏎");
  return [
    `${indent}${paint(decision, style)} ${style.bold(text)}  ${formatReason(rule, reason, style)}`,
    ...children.flatMap((child) => formatCommand(child, style, `${indent}  `)),
  ];
}

function formatReason(rule: string, reason: string, style: Style): string {
  return `${revealText(reason).replaceAll("\n", "⏎")} ${style.dim(`[${revealText(rule)}]`)}`;
}

function paint(decision: Explanation["decision"], style: Style): string {
  const paints = { allow: style.green, ask: style.yellow, deny: style.red };
  return paints[decision](decision.padEnd(5));
}
