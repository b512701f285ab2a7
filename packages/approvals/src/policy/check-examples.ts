import { PolicyError } from "../errors.ts";
import { resolvePath } from "../files/path.ts";
import { Workspace } from "../files/workspace.ts";
import { readEndpoint } from "../network/endpoint.ts";
import { readScript } from "../shell/read-script.ts";
import { unwrapShell } from "../shell/unwrap-shell.ts";
import { WorkBudget } from "../shell/work-budget.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { matchesTool } from "./evaluate-others.ts";
import { CommandJudge } from "./judge-commands.ts";
import { matchAllowing, matchTightening, type CalledWords } from "./match-command.ts";
import { describeRule } from "./rule.ts";

/** Checks the examples of every rule. A rule that does not do what its author expects is an error at once. */
export function checkExamples(policy: CompiledPolicy): void {
  const matchesTightening = (rule: CompiledRule, called: CalledWords): boolean =>
    matchTightening(rule, called, new WorkBudget()) === "yes";
  for (const rule of [...policy.deny, ...policy.ask]) check(rule, policy, matchesTightening);
  for (const rule of [...policy.allow, ...policy.additionalAllow]) check(rule, policy, matchAllowing);
}

type MatchCall = (rule: CompiledRule, called: CalledWords) => boolean;

function check(compiled: CompiledRule, policy: CompiledPolicy, matchCall: MatchCall): void {
  const { rule, id } = compiled;
  for (const list of ["match", "notMatch"] as const) {
    const expected = list === "match";
    const wrong = rule[list]?.find((example) => matches(compiled, example, policy, matchCall) !== expected);
    if (wrong !== undefined)
      throw new PolicyError(
        "invalid_rule",
        `${id}: the rule ${describeRule(rule)} ${expected ? "does not match" : "matches"} "${wrong}", which its ${list} lists. Change the rule or the example.`,
      );
  }
}

function matches(
  compiled: CompiledRule,
  example: string,
  policy: CompiledPolicy,
  matchCall: MatchCall,
): boolean {
  const { rule } = compiled;
  switch (rule.kind) {
    case "script":
      return rule.text === example;
    case "path":
      return compiled.path(resolvePath(policy.policy.workspace.roots[0] ?? "/", example));
    case "host": {
      const endpoint = readEndpoint(example);
      return endpoint !== undefined && compiled.host(endpoint);
    }
    case "mcp": {
      const [server = "", tool] = example.split("/");
      return matchesTool(compiled, { server, tool }) === "yes";
    }
    default:
      return callsOf(example, policy).some((called) => matchCall(compiled, called));
  }
}

/** The calls of an example. One that is not understood still has its words. */
function callsOf(example: string, policy: CompiledPolicy): readonly CalledWords[] {
  const cwd = policy.policy.workspace.roots[0] ?? "/";
  const workspace = new Workspace({ roots: [cwd], temp: [], home: undefined, cwd, facts: undefined });
  const unwrapped = unwrapShell(example);
  const script = unwrapped.kind === "script" ? unwrapped.script : example;
  const { commands } = readScript(script, { dialect: "bash", home: workspace.home, folders: [cwd] });
  // The judge is used for the calls that it finds: its verdicts must not depend on the rules being checked.
  const withoutRules = { ...policy, deny: [], ask: [], allow: [], additionalAllow: [] };
  const judge = new CommandJudge({ workspace, policy: withoutRules, budget: new WorkBudget() });
  judge.judge(commands);
  return judge.calls;
}
