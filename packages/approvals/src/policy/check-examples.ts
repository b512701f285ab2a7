import { PolicyError } from "../errors.ts";
import { isAbsolute, resolvePath } from "../files/path.ts";
import { Workspace } from "../files/workspace.ts";
import { readEndpoint } from "../network/endpoint.ts";
import { readScript } from "../shell/read-script.ts";
import { unwrapShell } from "../shell/unwrap-shell.ts";
import { WorkBudget } from "../shell/work-budget.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { matchesTool } from "./evaluate-mcp.ts";
import { CommandJudge } from "./judge-commands.ts";
import { matchAllowing, matchTightening, type CalledWords } from "./match-command.ts";
import { describeRule } from "./rule.ts";

/** Checks the examples of every rule. A rule that does not do what its author expects is an error at once. */
export function checkExamples(policy: CompiledPolicy): void {
  for (const rule of [...policy.deny, ...policy.ask]) check(rule, policy, "yes");
  for (const rule of [...policy.allow, ...policy.additionalAllow]) check(rule, policy, "allows");
}

function check(compiled: CompiledRule, policy: CompiledPolicy, mode: "yes" | "allows"): void {
  const { rule, id } = compiled;
  for (const [examples = [], expected] of [
    [rule.match, true],
    [rule.notMatch, false],
  ] as const) {
    for (const example of examples) {
      if (matchesExample(compiled, example, policy, mode) === expected) continue;
      const verb = expected ? "does not match" : "matches";
      throw new PolicyError(
        "invalid_rule",
        `${id}: the rule ${describeRule(rule)} ${verb} "${example}", which its ${expected ? "match" : "notMatch"} lists. Change the rule or the example.`,
      );
    }
  }
}

function matchesExample(
  compiled: CompiledRule,
  example: string,
  policy: CompiledPolicy,
  mode: "yes" | "allows",
): boolean {
  const { rule } = compiled;
  switch (rule.kind) {
    case "script":
      return rule.text === example;
    case "path": {
      const root = policy.policy.workspace.roots[0] ?? "/";
      return compiled.path(isAbsolute(example) ? example : resolvePath(root, example));
    }
    case "host": {
      const endpoint = readEndpoint(example);
      return endpoint !== undefined && compiled.host(endpoint);
    }
    case "mcp": {
      const [server = "", tool] = example.split("/");
      return matchesTool(compiled, server, tool) === "yes";
    }
    default:
      return callsOf(example, policy).some((call) =>
        mode === "yes"
          ? matchTightening(compiled, call, new WorkBudget()) === "yes"
          : matchAllowing(compiled, call),
      );
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
  const judge = new CommandJudge(workspace, { ...policy, deny: [], ask: [], allow: [], additionalAllow: [] });
  judge.judge(commands);
  return judge.calls;
}
