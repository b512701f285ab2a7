import { findCalledCatastrophe, findHiddenCatastrophe } from "../denials/find-catastrophe.ts";
import { findCommands, type FoundCommands } from "../denials/find-commands.ts";
import type { Workspace } from "../files/workspace.ts";
import { LIMITS } from "../limits.ts";
import { findCatastrophicText, findFlow } from "../programs/catastrophic-flows.ts";
import type { Denial } from "../programs/catastrophic.ts";
import { mayRunArguments } from "../programs/known-by-name.ts";
import type { PlainScript } from "../shell/plain-script.ts";
import type { WorkBudget } from "../shell/work-budget.ts";
import { readName, type ProgramName } from "../programs/program-names.ts";
import { isCallOf, matchesWritten } from "./command-pattern.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { cautionVerdict, type Verdict, ruleVerdict } from "./evaluation.ts";
import { matchTightening, toCalledWords, type CalledWords } from "./match-command.ts";

export interface DeniableScript {
  readonly source: string;
  readonly script: PlainScript;
  /** The calls of the commands that were read. */
  readonly calls: readonly CalledWords[];
  /** The verdict of the first rule of the user's that denies one of these calls. */
  readonly denied: Verdict | undefined;
  /** Whether these calls are all that the script does. */
  readonly isUnderstood: boolean;
  readonly budget: WorkBudget;
}

const NOTHING_SEARCHED: FoundCommands = { commands: [], outputs: [], runsDownload: false, isComplete: false };

/**
 * The second layer: catastrophic commands, and the user's denials and questions. It never allows anything and does not
 * depend on what the effects of a command are judged to be.
 */
export function findDenial(
  script: DeniableScript,
  workspace: Workspace,
  policy: CompiledPolicy,
): Verdict | undefined {
  const { source, calls, isUnderstood, budget } = script;
  const context = { home: workspace.home, folder: workspace.cwd };
  const called = calls.map(({ words }) => words.map((word) => word ?? ""));
  const catastrophe = findCalledCatastrophe(called, context);
  if (catastrophe !== undefined) return verdictOf(catastrophe);
  if (script.denied !== undefined) return script.denied;
  const { syntax } = script.script;
  const { hasCommandRules } = policy;
  const found = isUnderstood
    ? undefined
    : syntax === undefined
      ? NOTHING_SEARCHED
      : findCommands(syntax, hasCommandRules);
  const ruled = hasCommandRules ? judgeByUser(source, found, policy, budget) : undefined;
  if (ruled?.decision === "deny") return ruled;
  const hidden =
    findFlow(source, called) ??
    findInlineCode(source, calls) ??
    (found === undefined ? undefined : findHiddenCatastrophe(source, found, context));
  if (hidden !== undefined) return verdictOf(hidden);
  if (ruled !== undefined || (found?.isComplete !== false && !budget.isSearchIncomplete)) return ruled;
  const reason = "there is too much in it to look for what is denied";
  return cautionVerdict("too-much-text", reason, policy.policy.default);
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
          (effect.kind === "action" && /^(?:project-code|install|container)$/.test(effect.action)),
      ) === true,
  );
  return runsCode ? findCatastrophicText(source.slice(0, LIMITS.regexChars)) : undefined;
}

/**
 * What the user's denials and questions say about the text of a script, and about every command that can be found in one
 * that is not understood.
 */
function judgeByUser(
  source: string,
  found: FoundCommands | undefined,
  policy: CompiledPolicy,
  budget: WorkBudget,
): Verdict | undefined {
  const commands = (found?.commands ?? []).map(({ words }): NamedWords => ({
    ...toCalledWords(words, undefined, policy, budget),
    words,
    names: mayRunArguments(words) ? words.map(readName) : [],
  }));
  const find = (rules: readonly CompiledRule[], decision: "deny" | "ask"): Verdict | undefined => {
    // A regular expression and an exact script also see the text as it arrived.
    const inText = rules.find(
      (rule) => (rule.rule.kind === "script" && rule.rule.text === source) || rule.searches(source, budget),
    );
    if (inText !== undefined) return ruleVerdict(inText, decision, "the script");
    const rule = rules.find((one) => commands.some((command) => matchesAnywhere(one, command, budget)));
    return rule && ruleVerdict(rule, decision, "a command in the script");
  };
  return find(policy.deny, "deny") ?? find(policy.ask, "ask");
}

interface NamedWords extends CalledWords {
  readonly words: readonly string[];
  /** Behind a program that runs its arguments, any word may be the name of a program: `env -i git push`. */
  readonly names: readonly ProgramName[];
}

function matchesAnywhere(rule: CompiledRule, called: NamedWords, budget: WorkBudget): boolean {
  const { words, names } = called;
  if (matchTightening(rule, called, budget) === "yes") return true;
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
