import { z } from "zod";
import { PolicyError } from "../errors.ts";
import { ImportBuilder, type ImportedRules } from "./import-report.ts";
import { readRulesFile, type RulesCall } from "./read-rules-file.ts";

/**
 * Translates a `.rules` file of Codex 0.166: calls of `prefix_rule` and `network_rule` with literal arguments. Codex
 * evaluates these files as programs; other statements are reported, not run. They may change the meaning of later calls, so
 * only `deny` and `ask` rules are imported from a file that has any.
 *
 * @throws {PolicyError} `invalid_rule` if a statement that can't be parsed may forbid something, so that no denial is lost.
 *
 * @example
 * const { policy, untranslated } = importCodexRules(await readFile("default.rules", "utf8"));
 * const combined = definePolicy({ preset: "developer", ...policy });
 */
export function importCodexRules(text: string): ImportedRules {
  const builder = new ImportBuilder();
  let isRead = true;
  for (const { source, call } of readRulesFile(text)) {
    if (call !== undefined) addCall({ source, ...call }, builder);
    else {
      if (mayForbid(source)) throw unreadDenial(source);
      builder.report(source, "only calls with literal arguments are translated");
      isRead = false;
    }
  }
  if (!isRead)
    builder.dropPermissions("another statement of the file is not read, and may change its meaning");
  return builder.build();
}

/** Whether a statement that is not read may deny something: it says so, or has a decision that is not written out. */
function mayForbid(source: string): boolean {
  const text = source
    .replaceAll(/^([^"'\n]*)#[^\n]*/gm, "$1")
    .replaceAll(/\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8}))/gi, (_, ...codes: (string | undefined)[]) =>
      String.fromCodePoint(Number.parseInt(codes.find((code) => code !== undefined) ?? "0", 16)),
    );
  if (/["'](?:forbidden|deny)["']/.test(text)) return true;
  if (!/^(?:prefix|network)_rule\s*\(/.test(text)) return false;
  return (
    !/["'](?:allow|prompt)["']/.test(text) &&
    !/^prefix_rule\s*\(\s*pattern\s*=(?![^]*\bdecision\b)/.test(text)
  );
}

function unreadDenial(source: string): PolicyError {
  return new PolicyError(
    "invalid_rule",
    `A rule that may deny something can't be translated: ${source}\nWrite it with plain strings, or take it out of the file and add it to the policy by hand.`,
  );
}

type SourceCall = RulesCall & { readonly source: string };

function addCall(call: SourceCall, builder: ImportBuilder): void {
  switch (call.name) {
    case "prefix_rule":
      return addPrefixRule(call, builder);
    case "network_rule":
      return addNetworkRule(call, builder);
    case "host_executable":
      return builder.report(call.source, "a policy does not choose the files that a name stands for");
    default:
      return builder.report(call.source, `Codex has no rule named ${call.name}`);
  }
}

const wordSchema = z.string().min(1);
const patternSchema = z.array(z.union([wordSchema, z.array(wordSchema).min(1)])).min(1);

function addPrefixRule({ source, args }: SourceCall, builder: ImportBuilder): void {
  const pattern = patternSchema.safeParse(args["pattern"] ?? args[0]).data;
  const decision = args["decision"] ?? args[1] ?? "allow";
  const justification = args["justification"] ?? args[4];
  if (pattern === undefined) {
    if (decision === "forbidden") throw unreadDenial(source);
    return builder.report(source, "its pattern is not a list of words");
  }
  // As a denial or a question, a rule with a wildcard covers the literal star and more.
  if (decision === "allow" && pattern.flat().some((word) => word.includes("*")))
    return builder.report(source, "a star is a wildcard in a policy, but literal in Codex");
  const list = { allow: builder.additionalAllow, prompt: builder.ask, forbidden: builder.deny }[
    String(decision)
  ];
  if (list === undefined)
    return builder.report(source, "its decision is none of allow, prompt and forbidden");
  const why = typeof justification === "string" ? { justification } : {};
  list.push({ kind: "prefix", argv: pattern, ...why });
  return undefined;
}

function addNetworkRule({ source, args }: SourceCall, builder: ImportBuilder): void {
  const host = args["host"] ?? args[0];
  const protocol = args["protocol"] ?? args[1];
  const decision = args["decision"] ?? args[2];
  const port = { http: 80, https: 443 }[String(protocol)];
  const isDenial = decision === "deny" || decision === "forbidden";
  if (typeof host !== "string" || !/^[\w.:[\]-]+$/.test(host)) {
    if (isDenial) throw unreadDenial(source);
    return builder.report(source, "its host is not a host name");
  }
  if (port === undefined && !isDenial)
    return builder.report(source, `a policy has no rules for ${String(protocol)}`);
  // Codex's rule is about a protocol, at any port: only a permission is kept to the usual one.
  const pattern = /:\d+$/.test(host) || decision !== "allow" ? host : `${host}:${port}`;
  if (decision === "allow") builder.hosts.allow.push(pattern);
  else if (isDenial) builder.hosts.deny.push(pattern);
  else if (decision === "prompt") builder.ask.push({ kind: "host", host: pattern });
  else builder.report(source, "its decision is none of allow, prompt and deny");
  return undefined;
}
