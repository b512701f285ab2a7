import type { Rule } from "../policy/rule.ts";
import { ImportBuilder, type ImportedRules } from "./import-report.ts";
import { readRulesFile, type RulesCall, type RulesValue } from "./rules-literals.ts";

/**
 * Translates a `.rules` file of Codex 0.166: calls of `prefix_rule` and `network_rule` with literal arguments. Codex
 * evaluates these files as programs; statements that are more than such calls are reported, not run.
 *
 * @example
 * const { policy, untranslated } = importCodexRules(await readFile("default.rules", "utf8"));
 * const combined = definePolicy({ preset: "developer", ...policy });
 */
export function importCodexRules(text: string): ImportedRules {
  const builder = new ImportBuilder();
  for (const statement of readRulesFile(text)) {
    if (statement.kind === "other")
      builder.report(statement.source, "only calls with literal arguments are translated");
    else addCall(statement.call, builder);
  }
  return builder.build();
}

function addCall(call: RulesCall, builder: ImportBuilder): void {
  switch (call.name) {
    case "prefix_rule":
      return addPrefixRule(call, builder);
    case "network_rule":
      return addNetworkRule(call, builder);
    case "host_executable":
      return builder.report(
        call.source,
        "a policy does not choose the files that a program's name stands for",
      );
    default:
      return builder.report(call.source, `Codex has no rule named ${call.name}`);
  }
}

function argument(call: RulesCall, name: string, index: number): RulesValue | undefined {
  return call.named.get(name) ?? call.positional[index];
}

function addPrefixRule(call: RulesCall, builder: ImportBuilder): void {
  const pattern = argument(call, "pattern", 0);
  const decision = argument(call, "decision", 1) ?? "allow";
  const justification = call.named.get("justification") ?? call.positional[4];
  if (!isPattern(pattern)) return builder.report(call.source, "its pattern is not a list of words");
  if (pattern.flat().some((word) => word.includes("*")))
    return builder.report(call.source, "a star is a wildcard in a policy, but literal in Codex");
  const rule: Rule = {
    kind: "prefix",
    argv: pattern,
    ...(typeof justification === "string" ? { justification } : {}),
  };
  switch (decision) {
    case "allow":
      builder.alsoAllow.push(rule);
      return undefined;
    case "prompt":
      builder.ask.push(rule);
      return undefined;
    case "forbidden":
      builder.deny.push(rule);
      return undefined;
    default:
      return builder.report(call.source, "its decision is none of allow, prompt and forbidden");
  }
}

function addNetworkRule(call: RulesCall, builder: ImportBuilder): void {
  const host = argument(call, "host", 0);
  const protocol = argument(call, "protocol", 1);
  const decision = argument(call, "decision", 2);
  const port = { http: 80, https: 443 }[String(protocol)];
  if (typeof host !== "string" || !/^[\w.:[\]-]+$/.test(host))
    return builder.report(call.source, "its host is not a host name");
  if (port === undefined) return builder.report(call.source, `a policy has no rules for ${String(protocol)}`);
  // A host with a port of its own is about that port alone.
  const pattern = /:\d+$/.test(host) ? host : `${host}:${port}`;
  if (decision === "allow") builder.hosts.allow.push(pattern);
  else if (decision === "deny" || decision === "forbidden") builder.hosts.deny.push(pattern);
  else if (decision === "prompt") builder.ask.push({ kind: "host", host: pattern });
  else builder.report(call.source, "its decision is none of allow, prompt and deny");
  return undefined;
}

function isPattern(value: RulesValue | undefined): value is readonly (string | readonly string[])[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (word) =>
        (typeof word === "string" && word !== "") ||
        (Array.isArray(word) &&
          word.length > 0 &&
          word.every((choice) => typeof choice === "string" && choice !== "")),
    )
  );
}
