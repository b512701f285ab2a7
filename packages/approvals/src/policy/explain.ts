import type { PathFacts } from "../files/workspace.ts";
import { evaluatePolicy } from "./evaluate-policy.ts";
import type { CommandVerdict } from "./evaluation.ts";
import type { Policy } from "./policy.ts";

/** A command, the verdict on it, and the commands that it runs. */
export interface Explanation extends Pick<CommandVerdict, "command" | "decision" | "rule" | "reason"> {
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
  const text = typeof command === "string" ? command : command.join(" ");
  return { command: text, decision, rule, reason, children: childrenOf(-1, parse) };
}

function childrenOf(parent: number, parse: readonly CommandVerdict[]): readonly Explanation[] {
  return parse.flatMap(({ command, decision, rule, reason, parent: own }, index) =>
    own === parent ? [{ command, decision, rule, reason, children: childrenOf(index, parse) }] : [],
  );
}

export function formatExplanation({ command, decision, rule, reason, children }: Explanation): string {
  const line = `${{ allow: "✓", ask: "?", deny: "✗" }[decision]} ${command.replaceAll("\n", "⏎")}  [${rule}] ${reason}`;
  const inner = children.map((child) => formatExplanation(child).replaceAll(/^/gm, "  "));
  return [line, ...inner].join("\n");
}
