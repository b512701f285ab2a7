import type { Workspace } from "../files/workspace.ts";
import { LIMITS } from "../limits.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import type { Verdict } from "./evaluation.ts";
import { ruleVerdict } from "./judge-path.ts";
import { matchTightening, type CalledWords } from "./match-command.ts";
import { baseName } from "../files/path.ts";
import { findCatastrophe, isCheckedProgram, type Denial } from "../programs/catastrophic.ts";
import { findCatastrophicText, findFlow } from "../denials/find-flow.ts";
import { PRINTERS, scanScript, type ScannedCall } from "../denials/scan-script.ts";
import type { PlainScript } from "../shell/plain-script.ts";

export interface DeniableScript {
  readonly source: string;
  readonly script: PlainScript;
  /** The calls of the commands that were read. */
  readonly calls: readonly CalledWords[];
  /** What a rule of the user's says that denies one of these calls. */
  readonly denied: Verdict | undefined;
  /** Whether these calls are all that the script does. */
  readonly isUnderstood: boolean;
}

/** A function that defines itself through a pipe to itself, in the background. */
const FORK_BOMB = /(?<!\w)(\w{1,32}|:)\s{0,8}\(\s{0,8}\)\s{0,8}\{[^}]{0,80}\1\s{0,8}\|\s{0,8}\1\s{0,8}&/;

/**
 * The second layer: catastrophic commands and the user's denials. It never allows anything and does not depend on what
 * the effects of a command are judged to be.
 */
export function findDenial(
  { source, script, calls, denied, isUnderstood }: DeniableScript,
  workspace: Workspace,
  policy: CompiledPolicy,
): Verdict | undefined {
  const context = { home: workspace.home, folder: workspace.cwd };
  const called = calls.map(({ words }) => words.map((word) => word ?? ""));
  for (const words of called) {
    const name = baseName(words[0] ?? "");
    if (!isCheckedProgram(name)) continue;
    const denial = findCatastrophe({ name, args: words.slice(1), ...context });
    if (denial !== undefined) return verdictOf(denial);
  }
  const deniedByUser = denied ?? findDeniedText(source, policy);
  if (deniedByUser !== undefined) return deniedByUser;
  const flow = findFlow(source, called) ?? findInlineCode(source, calls);
  if (flow !== undefined || isUnderstood) return flow && verdictOf(flow);
  if (FORK_BOMB.test(source.slice(0, LIMITS.syntaxChars)))
    return verdictOf({ rule: "fork-bomb", reason: "starts processes without end" });
  const scan = scanScript(script, context);
  const found =
    scan.denial ??
    findFlow(
      source,
      scan.calls.map((call) => call.words),
    ) ??
    (scan.calls.some(({ name }) => !PRINTERS.has(name)) ? findCatastrophicText(source) : undefined);
  if (found !== undefined) return verdictOf(found);
  return findDeniedCall(scan.calls, policy);
}

/**
 * Code in arguments, in here-documents and in files that the script writes may be in another language: only its words can
 * be looked at. The same holds for what runs in a container, which may have folders of the host.
 */
function findInlineCode(source: string, calls: readonly CalledWords[]): Denial | undefined {
  const runsCode = calls.some(
    ({ call }) =>
      call?.effects.some(
        (effect) =>
          effect.kind === "execute" ||
          effect.kind === "inline-code" ||
          effect.kind === "stdin-code" ||
          (effect.kind === "action" &&
            (effect.action === "project-code" ||
              effect.action === "install" ||
              effect.action === "container")),
      ) === true,
  );
  return runsCode ? findCatastrophicText(source.slice(0, LIMITS.regexChars)) : undefined;
}

/** A regular expression and an exact script also see the text as it arrived. */
function findDeniedText(source: string, { deny }: CompiledPolicy): Verdict | undefined {
  const found = deny.find(
    (rule) => (rule.rule.kind === "script" && rule.rule.text === source) || rule.searches(source),
  );
  return found === undefined ? undefined : ruleVerdict(found, "deny", "the script");
}

function findDeniedCall(calls: readonly ScannedCall[], { deny }: CompiledPolicy): Verdict | undefined {
  for (const rule of deny) {
    const found = calls.find(({ words }) => matchTightening(rule, { words, call: undefined }) === "yes");
    if (found !== undefined) return ruleVerdict(rule, "deny", found.words[0] ?? "the command");
  }
  return undefined;
}

function verdictOf({ rule, reason }: Denial): Verdict {
  return { decision: "deny", rule: `safety/${rule}`, reason };
}
