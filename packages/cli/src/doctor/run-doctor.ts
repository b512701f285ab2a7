import { type CliContext, printJson } from "../context.ts";
import { EXIT, SilentExit } from "../errors/cli-error.ts";
import { sanitizeText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";
import { checkCodex } from "./check-codex.ts";
import { checkDaemon } from "./check-daemon.ts";
import { checkLeftovers } from "./check-leftovers.ts";
import { checkSandbox } from "./check-sandbox.ts";
import { checkTerminals } from "./check-terminals.ts";
import type { Finding } from "./finding.ts";

export interface DoctorOptions {
  readonly fix?: boolean;
  readonly store?: string;
}

/** Implements `codexkit doctor`: prints each finding as soon as it is known. */
export async function runDoctor(options: DoctorOptions, context: CliContext): Promise<void> {
  const checks: (() => Finding[] | Promise<Finding[]>)[] = [
    () => [{ check: "node", status: "ok", message: `${process.versions.node} (${process.execPath})` }],
    // Must run before codex is launched, because the launch ends the leftovers.
    () => checkLeftovers(options),
    () => checkCodex(context),
    () => checkSandbox(context.env),
    checkTerminals,
    () => checkDaemon(options),
  ];
  let failures = 0;
  for (const run of checks) {
    context.signal.throwIfAborted();
    for (const finding of await run()) {
      if (finding.status === "failed") failures += 1;
      if (context.json) printJson(context, finding);
      else context.stdout.write(`${formatFinding(finding, context.style).join("\n")}\n`);
    }
  }
  if (failures > 0) throw new SilentExit(EXIT.failed);
}

const NAME_COLUMNS = 12;

function formatFinding({ check, status, message, fix }: Finding, style: Style): string[] {
  const mark = { ok: style.green("✓"), warning: style.yellow("!"), failed: style.red("✗") }[status];
  const [first = "", ...others] = sanitizeText(message).split("\n");
  const indent = " ".repeat(NAME_COLUMNS + 3);
  return [
    `${mark} ${check.padEnd(NAME_COLUMNS)} ${first}`,
    ...others.map((line) => indent + line),
    ...(fix === undefined ? [] : [`${indent}${style.bold(fix)}`]),
  ];
}
