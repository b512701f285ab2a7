import type { Workspace } from "../files/workspace.ts";
import { LIMITS } from "../limits.ts";
import { readName, type ProgramName } from "./command-names.ts";
import { isCallOf, matchesWritten } from "./command-pattern.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { cautionVerdict, type Verdict } from "./evaluation.ts";
import { ruleVerdict } from "./judge-path.ts";
import { matchTightening, type CalledWords } from "./match-command.ts";
import { findCommands, mayRunArguments } from "../denials/find-commands.ts";
import { baseName } from "../files/path.ts";
import { findCatastrophe, isCheckedProgram, type Denial } from "../programs/catastrophic.ts";
import { findCatastrophicText, findFlow } from "../denials/find-flow.ts";
import { PRINTERS, scanScript, type ScannedCall } from "../denials/scan-script.ts";
import type { PlainScript } from "../shell/plain-script.ts";
import type { WorkBudget } from "../shell/work-budget.ts";

export interface DeniableScript {
  readonly source: string;
  readonly script: PlainScript;
  /** The calls of the commands that were read. */
  readonly calls: readonly CalledWords[];
  /** What a rule of the user's says that denies one of these calls. */
  readonly denied: Verdict | undefined;
  /** Whether these calls are all that the script does. */
  readonly isUnderstood: boolean;
  readonly budget: WorkBudget;
}

/** A function that defines itself through a pipe to itself, in the background. */
const FORK_BOMB = /(?<!\w)(\w{1,32}|:)\s{0,8}\(\s{0,8}\)\s{0,8}\{[^}]{0,80}\1\s{0,8}\|\s{0,8}\1\s{0,8}&/;

/**
 * The second layer: catastrophic commands, and the user's denials and questions. It never allows anything and does not
 * depend on what the effects of a command are judged to be.
 */
export function findDenial(
  script: DeniableScript,
  workspace: Workspace,
  policy: CompiledPolicy,
): Verdict | undefined {
  const context = { home: workspace.home, folder: workspace.cwd };
  const catastrophe = findCalledCatastrophe(script, context);
  if (catastrophe !== undefined) return verdictOf(catastrophe);
  const ruled = script.denied ?? judgeByUser(script, policy);
  if (ruled?.decision === "deny") return ruled;
  const found = findCombination(script, context);
  return found === undefined ? ruled : verdictOf(found);
}

type Context = Pick<ScannedCall, "home" | "folder">;

function findCalledCatastrophe({ calls }: DeniableScript, context: Context): Denial | undefined {
  for (const { words } of calls) {
    const name = baseName(words[0] ?? "");
    if (!isCheckedProgram(name)) continue;
    const denial = findCatastrophe({ name, args: words.slice(1).map((word) => word ?? ""), ...context });
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/** What the commands of a script do together, and what can be found in one that is not understood. */
function findCombination(
  { source, script, calls, isUnderstood }: DeniableScript,
  context: Context,
): Denial | undefined {
  const called = calls.map(({ words }) => words.map((word) => word ?? ""));
  const flow = findFlow(source, called) ?? findInlineCode(source, calls);
  if (flow !== undefined || isUnderstood) return flow;
  if (FORK_BOMB.test(source.slice(0, LIMITS.syntaxChars)))
    return { rule: "fork-bomb", reason: "starts processes without end" };
  const scan = scanScript(script, context);
  return (
    scan.denial ??
    findFlow(
      source,
      scan.calls.map((call) => call.words),
    ) ??
    (scan.calls.some(({ name }) => !PRINTERS.has(name)) ? findCatastrophicText(source) : undefined)
  );
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
function findInText(
  source: string,
  rules: readonly CompiledRule[],
  budget: WorkBudget,
): CompiledRule | undefined {
  return rules.find(
    (rule) => (rule.rule.kind === "script" && rule.rule.text === source) || rule.searches(source, budget),
  );
}

/**
 * What the user's denials and questions say about the text of a script, and about every command that can be found in one
 * that is not understood.
 */
function judgeByUser(
  { source, script, isUnderstood, budget }: DeniableScript,
  policy: CompiledPolicy,
): Verdict | undefined {
  if (!policy.hasCommandRules) return undefined;
  const found = isUnderstood ? undefined : findCommands(script);
  const commands = found?.commands.map(toNamed) ?? [];
  const find = (rules: readonly CompiledRule[], decision: "deny" | "ask"): Verdict | undefined => {
    const inText = findInText(source, rules, budget);
    if (inText !== undefined) return ruleVerdict(inText, decision, "the script");
    const rule = rules.find((one) => commands.some((command) => matchesAnywhere(one, command, budget)));
    return rule && ruleVerdict(rule, decision, "a command in the script");
  };
  const ruled = find(policy.deny, "deny") ?? find(policy.ask, "ask");
  const isSearched = found?.isComplete !== false && !budget.isSearchIncomplete;
  if (ruled !== undefined || isSearched) return ruled;
  return cautionVerdict(
    "too-much-text",
    "there is too much in it to look for what the rules deny",
    policy.policy.default,
  );
}

interface NamedWords {
  readonly words: readonly string[];
  /** Behind a program that runs its arguments, any word may be the name of a program: `env -i git push`. */
  readonly names: readonly ProgramName[];
}

function toNamed(words: readonly string[]): NamedWords {
  return { words, names: mayRunArguments(words) ? words.map(readName) : [] };
}

function matchesAnywhere(rule: CompiledRule, { words, names }: NamedWords, budget: WorkBudget): boolean {
  if (matchTightening(rule, { words, call: undefined }, budget) === "yes") return true;
  return rule.patterns.some((pattern) =>
    names.some(
      (name, index) =>
        index > 0 && isCallOf(pattern, name) && matchesWritten(pattern, name, words.slice(index)),
    ),
  );
}

function verdictOf({ rule, reason }: Denial): Verdict {
  return { decision: "deny", rule: `safety/${rule}`, reason };
}
