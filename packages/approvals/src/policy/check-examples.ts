import { PolicyError } from "../errors.ts";
import { resolvePath } from "../files/path.ts";
import { Workspace } from "../files/workspace.ts";
import { readEndpoint } from "../network/endpoint.ts";
import { readScript } from "../shell/read-script.ts";
import { unwrapShell } from "../shell/unwrap-shell.ts";
import { WorkBudget } from "../limits.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { matchesTool } from "./evaluate-policy.ts";
import { CommandJudge } from "./judge-commands.ts";
import { matchAllowing, matchTightening, type CalledWords } from "./match-command.ts";
import { describeRule } from "./rule.ts";

/** Checks the examples of every rule. A rule that does not do what its author expects is an error at once. */
export function checkExamples(policy: CompiledPolicy): void {
  for (const compiled of [...policy.deny, ...policy.ask, ...policy.allow, ...policy.additionalAllow]) {
    const { rule, id } = compiled;
    for (const list of ["match", "notMatch"] as const) {
      const expected = list === "match";
      const wrong = rule[list]?.find((example) => matches(compiled, example, policy) !== expected);
      if (wrong === undefined) continue;
      const verb = expected ? "does not match" : "matches";
      const message = `${id}: the rule ${describeRule(rule)} ${verb} "${wrong}", which its ${list} lists. Change the rule or the example.`;
      throw new PolicyError("invalid_rule", message);
    }
  }
}

function matches(compiled: CompiledRule, example: string, policy: CompiledPolicy): boolean {
  const { rule, id } = compiled;
  const folder = policy.policy.workspace.roots[0] ?? "/";
  switch (rule.kind) {
    case "script":
      return rule.text === example;
    case "path":
      return compiled.path(resolvePath(folder, example));
    case "host": {
      const endpoint = readEndpoint(example);
      return endpoint !== undefined && compiled.host(endpoint);
    }
    case "mcp": {
      const [server = "", tool] = example.split("/");
      return matchesTool(compiled, { server, tool }) === "yes";
    }
    default:
      return callsOf(example, folder, policy).some((called) =>
        /^(?:deny|ask)\[/.test(id)
          ? matchTightening(compiled, called, new WorkBudget()) === "yes"
          : matchAllowing(compiled, called),
      );
  }
}

/** The calls of an example. One that is not understood still has its words. */
function callsOf(example: string, cwd: string, policy: CompiledPolicy): readonly CalledWords[] {
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
