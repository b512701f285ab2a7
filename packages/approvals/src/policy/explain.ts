import type { PathFacts } from "../files/workspace.ts";
import type { Decision } from "../decision.ts";
import { evaluatePolicy } from "./evaluate-policy.ts";
import type { CommandVerdict } from "./evaluation.ts";
import type { Policy } from "./policy.ts";

/** A command, the verdict on it, and the commands that it runs. */
export interface Explanation {
  readonly command: string;
  readonly decision: Decision;
  readonly rule: string;
  readonly reason: string;
  readonly children: readonly Explanation[];
}

export interface ExplainOptions {
  readonly cwd?: string | undefined;
  readonly facts?: PathFacts | undefined;
}

/** Explains which commands would run, which rules apply, and what the decision is. */
export function explain(
  policy: Policy,
  command: string | readonly string[],
  { cwd, facts }: ExplainOptions = {},
): Explanation {
  const { decision, rule, reason, parse } = evaluatePolicy(policy, { kind: "command", command, cwd }, facts);
  return {
    command: typeof command === "string" ? command : command.join(" "),
    decision,
    rule,
    reason,
    children: childrenOf(-1, parse),
  };
}

function childrenOf(parent: number, parse: readonly CommandVerdict[]): Explanation[] {
  const children: Explanation[] = [];
  for (const [index, { command, decision, rule, reason, parent: own }] of parse.entries()) {
    if (own === parent)
      children.push({ command, decision, rule, reason, children: childrenOf(index, parse) });
  }
  return children;
}

const MARKS: Readonly<Record<Decision, string>> = { allow: "✓", ask: "?", deny: "✗" };

/** Formats an explanation as lines of text. */
export function formatExplanation(explanation: Explanation): string {
  const lines: string[] = [];
  const add = (node: Explanation, indent: string): void => {
    lines.push(
      `${indent}${MARKS[node.decision]} ${node.command.replaceAll("\n", "⏎")}  [${node.rule}] ${node.reason}`,
    );
    for (const child of node.children) add(child, `${indent}  `);
  };
  add(explanation, "");
  return lines.join("\n");
}
