import { PolicyError } from "../errors.ts";
import type { Rule } from "../policy/rule.ts";
import { ImportBuilder, type ImportedRules } from "./import-report.ts";
import { readRulesFile, type RulesCall, type RulesValue } from "./rules-literals.ts";

/**
 * Translates a `.rules` file of Codex 0.166: calls of `prefix_rule` and `network_rule` with literal arguments. Codex
 * evaluates these files as programs; other statements are reported, not run. They may change the meaning of later calls, so
 * only `deny` and `ask` rules are imported from a file that has any.
 *
 * @throws {PolicyError} `invalid_rule` if a statement that can't be parsed contains a decision to forbid something, so that no
 *   denial is lost.
 *
 * @example
 * const { policy, untranslated } = importCodexRules(await readFile("default.rules", "utf8"));
 * const combined = definePolicy({ preset: "developer", ...policy });
 */
export function importCodexRules(text: string): ImportedRules {
  const builder = new ImportBuilder();
  let isRead = true;
  for (const statement of readRulesFile(text)) {
    if (statement.kind === "other") {
      if (FORBIDS.test(statement.source)) throw unreadDenial(statement.source);
      builder.report(statement.source, "only calls with literal arguments are translated");
      isRead = false;
    } else addCall(statement.call, builder);
  }
  if (!isRead)
    builder.dropPermissions("another statement of the file is not read, and may change its meaning");
  return builder.build();
}

/** A word of a rule that denies, outside of comments. */
const FORBIDS = /^[^#\n]*["'](?:forbidden|deny)["']/m;

function unreadDenial(source: string): PolicyError {
  return new PolicyError(
    "invalid_rule",
    `A rule that denies can't be translated: ${source}\nWrite it with plain strings, or take it out of the file and add it to the policy by hand.`,
  );
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
  const isDenial = decision === "forbidden";
  if (!isPattern(pattern)) {
    if (isDenial) throw unreadDenial(call.source);
    return builder.report(call.source, "its pattern is not a list of words");
  }
  // As a denial or a question, a rule with a wildcard covers the literal star and more.
  if (decision === "allow" && pattern.flat().some((word) => word.includes("*")))
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
  const isDenial = decision === "deny" || decision === "forbidden";
  if (typeof host !== "string" || !/^[\w.:[\]-]+$/.test(host)) {
    if (isDenial) throw unreadDenial(call.source);
    return builder.report(call.source, "its host is not a host name");
  }
  if (port === undefined && !isDenial)
    return builder.report(call.source, `a policy has no rules for ${String(protocol)}`);
  // Codex's rule is about a protocol, at any port: only a permission is kept to the usual one.
  const pattern = /:\d+$/.test(host) || decision !== "allow" ? host : `${host}:${port}`;
  if (decision === "allow") builder.hosts.allow.push(pattern);
  else if (isDenial) builder.hosts.deny.push(pattern);
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
