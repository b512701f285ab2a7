import type { Places } from "../files/places.ts";
import { LIMITS } from "../limits.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import type { Verdict } from "./evaluation.ts";
import { ruleVerdict } from "./judge-path.ts";
import { matchTightening, type CalledWords } from "./match-command.ts";
import { baseName } from "../files/path.ts";
import { findCatastrophe, isCheckedProgram, type Denial } from "../denials/catastrophic.ts";
import { findCatastrophicText, findFlow, INTERPRETERS } from "../denials/find-flow.ts";
import { scanScript } from "../denials/scan-script.ts";
import type { PlainScript } from "../shell/plain-script.ts";

export interface DeniableScript {
  readonly source: string;
  readonly script: PlainScript;
  /** The calls of the commands that were read. */
  readonly calls: readonly CalledWords[];
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
  { source, script, calls, isUnderstood }: DeniableScript,
  places: Places,
  policy: CompiledPolicy,
): Verdict | undefined {
  const context = { home: places.home, folder: places.cwd };
  const called = calls.map(({ words }) => words.map((word) => word ?? ""));
  for (const words of called) {
    const name = baseName(words[0] ?? "");
    if (!isCheckedProgram(name)) continue;
    const denial = findCatastrophe({ name, args: words.slice(1), ...context });
    if (denial !== undefined) return verdictOf(denial);
  }
  const denied = findUserDenial(source, calls, policy);
  if (denied !== undefined) return denied;
  const flow = findFlow(source, called) ?? findInlineCode(calls);
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
    (scan.calls.some(({ name }) => INTERPRETERS.test(name)) ? findCatastrophicText(source) : undefined);
  if (found !== undefined) return verdictOf(found);
  if (policy.deny.length === 0) return undefined;
  const scanned = scan.calls.map(({ words }) => ({ words, call: undefined }));
  return findUserDenial(source, scanned, policy);
}

/** Code in arguments may be in another language: only its words can be looked at. */
function findInlineCode(calls: readonly CalledWords[]): Denial | undefined {
  for (const { call, words } of calls) {
    const runsCode = call?.effects.some(
      (effect) =>
        effect.kind === "inline-code" ||
        (effect.kind === "action" && (effect.action === "project-code" || effect.action === "install")),
    );
    if (runsCode !== true) continue;
    for (const word of words) {
      const denial = findCatastrophicText((word ?? "").slice(0, LIMITS.regexChars));
      if (denial !== undefined) return denial;
    }
  }
  return undefined;
}

function findUserDenial(
  source: string,
  calls: readonly CalledWords[],
  { deny }: CompiledPolicy,
): Verdict | undefined {
  for (const rule of deny) {
    // A regular expression and an exact script also see the text as it arrived.
    if ((rule.rule.kind === "script" && rule.rule.text === source) || rule.searches(source))
      return ruleVerdict(rule, "deny", "the script");
    const called = calls.find((call) => matchTightening(rule, call) === "yes");
    if (called !== undefined) return ruleVerdict(rule, "deny", called.words[0] ?? "the command");
  }
  return undefined;
}

function verdictOf({ rule, reason }: Denial): Verdict {
  return { decision: "deny", rule: `safety/${rule}`, reason };
}
