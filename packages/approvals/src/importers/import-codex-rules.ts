import { z } from "zod";
import { PolicyError } from "../errors.ts";
import { describeRule } from "../policy/rule.ts";
import { nothingImported, type ImportedRules } from "./import-report.ts";

/**
 * Translates a `.rules` file of Codex 0.166: calls of `prefix_rule` and `network_rule` with literal arguments. Codex
 * evaluates these files as programs; other statements are reported, not run. They may change the meaning of later calls, so
 * only `deny` and `ask` rules are imported from a file that has any.
 *
 * @throws {PolicyError} `invalid_rule` if a statement that can't be parsed may forbid something, so that no denial is lost.
 */
export function importCodexRules(text: string): ImportedRules {
  const imported = nothingImported();
  const { policy, untranslated } = imported;
  const statements = readRulesFile(text);
  for (const { source, call } of statements) {
    const reason =
      call === undefined ? "only calls with literal arguments are translated" : addRule(call, policy);
    if (reason === undefined) continue;
    const isDenial =
      call === undefined
        ? mayForbid(source)
        : Object.values(call.args).some((value) => value === "forbidden" || value === "deny");
    if (isDenial)
      throw new PolicyError(
        "invalid_rule",
        `A rule that may deny something can't be translated: ${source}\nWrite it with plain strings, or take it out of the file and add it to the policy by hand.`,
      );
    untranslated.push({ source, reason });
  }
  if (statements.every(({ call }) => call !== undefined)) return imported;
  const reason = "the file has a statement that is not parsed and may change the meaning of this rule";
  const rules = policy.additionalAllow.splice(0).map(describeRule);
  for (const allowed of [...rules, ...policy.network.allow.splice(0)])
    untranslated.push({ source: `allow: ${allowed}`, reason });
  return imported;
}

/** Whether a statement that is not parsed may deny something: it contains a denial, or its decision is not a literal. */
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

const wordSchema = z.string().min(1);
const patternSchema = z.array(z.union([wordSchema, z.array(wordSchema).min(1)])).min(1);

type Policy = ImportedRules["policy"];

/** Adds a rule, or returns why there is none. */
function addRule({ name, args }: RulesCall, policy: Policy): string | undefined {
  if (name === "prefix_rule") return addPrefixRule(args, policy);
  if (name === "network_rule") return addNetworkRule(args, policy);
  return name === "host_executable"
    ? "a policy can't choose which executables a name refers to"
    : `Codex has no rule named ${name}`;
}

function addPrefixRule(args: RulesCall["args"], policy: Policy): string | undefined {
  const argv = patternSchema.safeParse(args["pattern"] ?? args[0]).data;
  const decision = String(args["decision"] ?? args[1] ?? "allow");
  const justification = args["justification"] ?? args[4];
  if (argv === undefined) return "its pattern is not a list of words";
  // In a `deny` or `ask` rule, a wildcard covers the literal star and more.
  if (decision === "allow" && argv.flat().some((word) => word.includes("*")))
    return "a star is a wildcard in a policy, but literal in Codex";
  const list = { allow: policy.additionalAllow, prompt: policy.ask, forbidden: policy.deny }[decision];
  const why = typeof justification === "string" ? { justification } : {};
  list?.push({ kind: "prefix", argv, ...why });
  return list === undefined ? "its decision is none of allow, prompt and forbidden" : undefined;
}

function addNetworkRule(args: RulesCall["args"], policy: Policy): string | undefined {
  const host = args["host"] ?? args[0];
  const protocol = String(args["protocol"] ?? args[1]);
  const decision = args["decision"] ?? args[2];
  const port = { http: 80, https: 443 }[protocol];
  const isDenial = decision === "deny" || decision === "forbidden";
  if (typeof host !== "string" || !/^[\w.:[\]-]+$/.test(host)) return "its host is not a host name";
  if (port === undefined && !isDenial) return `a policy has no rules for ${protocol}`;
  // Codex's rule applies to a protocol at any port. Only an allow rule is limited to the protocol's usual port.
  if (decision === "allow") policy.network.allow.push(/:\d+$/.test(host) ? host : `${host}:${port}`);
  else if (isDenial) policy.network.deny.push(host);
  else if (decision === "prompt") policy.ask.push({ kind: "host", host });
  else return "its decision is none of allow, prompt and deny";
  return undefined;
}

type RulesValue = string | readonly RulesValue[];

/** Arguments by their names; positional ones by their index. */
interface RulesCall {
  readonly name: string;
  readonly args: Readonly<Record<string, RulesValue>>;
}

/** A top-level statement. Anything but a call with literal arguments has no `call`. */
type RulesStatement = { readonly source: string; readonly call?: RulesCall };

/** Matches the tokens of literal arguments: blanks, comments, strings, argument names, brackets and commas. */
const TOKEN = /[ \t\r\n]|#[^\n]*|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[A-Za-z_]\w*\s*=|[[\],]/g;
const CALL = new RegExp(
  String.raw`([a-z_]\w*)\s*\(((?:${TOKEN.source})*)\)[ \t]*(?:#[^\n]*)?(?=\r?\n|$)`,
  "y",
);
const NOTHING = /(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:[ \t]*(?:#[^\n]*)?$)?/y;
const OTHER = /[^]+?(?=\r?\n[^\s)\]}#]|$)/y;

/**
 * Parses the calls with literal arguments in a `.rules` file. Other statements are not parsed, and may be split in the middle:
 * the importer takes no allow rule from a file that has any.
 */
function readRulesFile(text: string): readonly RulesStatement[] {
  const statements: RulesStatement[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    at += match?.[0].length ?? 0;
    return match;
  };
  while (take(NOTHING) !== null && at < text.length) {
    const start = at;
    const [, name = "", list] = take(CALL) ?? [];
    const args = list === undefined ? undefined : readArguments(list);
    if (list === undefined) take(OTHER);
    const source = text.slice(start, at).trim();
    statements.push(args === undefined ? { source } : { source, call: { name, args } });
  }
  return statements;
}

/**
 * Literal arguments are rewritten as JSON, which has the same strings and lists. A name becomes an object before its value.
 *
 * @returns undefined for an argument without a value, or one that is given twice.
 */
function readArguments(text: string): RulesCall["args"] | undefined {
  let json = "";
  for (const [token] of `${text}]`.matchAll(TOKEN)) {
    // A comma may follow the last item.
    if (token === "]" && json.endsWith(",")) json = json.slice(0, -1);
    if (/^["']/.test(token)) json += toJson(token);
    else if (token.endsWith("=")) json += `{"name":"${token.slice(0, -1).trim()}"},`;
    else if (/^[[\],]/.test(token)) json += token;
  }
  const args: Record<string, RulesValue> = {};
  let name: string | undefined;
  let index = 0;
  for (const item of parseList(`[${json}`) ?? [{ name: "" }]) {
    if (typeof item === "object" && "name" in item) {
      if (name !== undefined) return undefined;
      ({ name } = item);
      continue;
    }
    const key = name ?? String(index++);
    if (Object.hasOwn(args, key)) return undefined;
    args[key] = item;
    name = undefined;
  }
  return name === undefined ? args : undefined;
}

/** @returns text that is not JSON for a string with an unknown escape, such as `\x69`. */
function toJson(token: string): string {
  const text = token.slice(1, -1);
  if (/\\[^\n"'\\nrt]/.test(text.replaceAll("\\\\", ""))) return "unknown";
  const known: Readonly<Record<string, string>> = { "\n": "", n: "\n", r: "\r", t: "\t" };
  return JSON.stringify(text.replaceAll(/\\([^])/g, (_, char: string) => known[char] ?? char));
}

function parseList(text: string): readonly (RulesValue | { readonly name: string })[] | undefined {
  try {
    return JSON.parse(text) as readonly RulesValue[];
  } catch {
    return undefined;
  }
}
