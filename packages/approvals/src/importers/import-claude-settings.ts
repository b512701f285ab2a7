import { z } from "zod";
import { widenBrackets } from "../files/glob.ts";
import { PolicyError } from "../errors.ts";
import type { Rule } from "../policy/rule.ts";
import { nothingImported, type ImportedRules } from "./import-report.ts";

export interface ImportClaudeOptions {
  /** The home folder, for `~` in rules about files. Without it, such rules are reported as untranslated. */
  readonly home?: string | undefined;
}

const entries = z.array(z.string()).optional();
const permissionsSchema = z.looseObject({ allow: entries, ask: entries, deny: entries });
const settingsSchema = z.looseObject({ permissions: permissionsSchema.optional() });

type List = "allow" | "ask" | "deny";

/**
 * Translates the `permissions` of a Claude Code settings file: `Bash(npm run *)`, `Read(./.env)`, `Edit(src/**)`,
 * `WebFetch(domain:example.com)`, `mcp__server__tool`.
 *
 * @throws {PolicyError} `invalid_policy` if the value has no such settings.
 */
export function importClaudeSettings(settings: unknown, options: ImportClaudeOptions = {}): ImportedRules {
  const read = settingsSchema.safeParse(settings);
  if (!read.success)
    throw new PolicyError(
      "invalid_policy",
      `These are not Claude Code settings. ${z.prettifyError(read.error)}`,
    );
  const imported = nothingImported();
  const { policy, untranslated } = imported;
  const { allow = [], ask = [], deny = [], ...others } = read.data.permissions ?? {};
  const add = (list: List, entry: string, into: Rule[]): void => {
    const rules = translate(entry, list, options);
    if (typeof rules === "string") untranslated.push({ source: `${list}: ${entry}`, reason: rules });
    else into.push(...[rules].flat());
  };
  for (const entry of allow) add("allow", entry, policy.additionalAllow);
  for (const entry of ask) add("ask", entry, policy.ask);
  for (const entry of deny) add("deny", entry, policy.deny);
  const reason = "choose a preset and the roots of the workspace instead";
  for (const name of Object.keys(others)) untranslated.push({ source: `permissions.${name}`, reason });
  return imported;
}

const ENTRY = /^(?<tool>[A-Za-z]\w*?)(?:\((?<what>[^]*)\))?$/;

function translate(entry: string, list: List, { home }: ImportClaudeOptions): Rule | Rule[] | string {
  const [, server, name = "*"] = /^mcp__(.+?)(?:__(.+))?$/.exec(entry) ?? [];
  if (server !== undefined) return { kind: "mcp", server, ...(name === "*" ? {} : { tool: name }) };
  const { tool, what } = ENTRY.exec(entry)?.groups ?? {};
  if (tool === "Bash") return commandRule(what);
  if (tool === "Read") return fileRules(what, "read", list, home);
  if (/^(?:Edit|MultiEdit|NotebookEdit|Write)$/.test(tool ?? "")) return fileRules(what, "write", list, home);
  if (tool !== "WebFetch")
    return list === "deny" ? "Codex has no such tool: nothing has to be denied" : "Codex has no such tool";
  if (list === "allow")
    return "a policy also allows sending data to an allowed host, at any port: if that is fine, add it to network.allow";
  const host = what === undefined ? "*" : /^domain:([\w.*-]+)$/.exec(what)?.[1];
  return host === undefined ? "only domain:… is supported for WebFetch" : { kind: "host", host };
}

/** A star matches any text, including blanks. `:*` and ` *` at the end match any further words, or none. */
function commandRule(what: string | undefined): Rule | string {
  if (what === undefined || what === "*") return { kind: "regex", pattern: ".*" };
  if (what.trim() === "") return "it has no command";
  if (/^\w+=/.test(what)) return "write a rule for a command with variables by hand";
  const beginning = /^([^*]+?)(?::\*| \*)$/.exec(what)?.[1];
  const text = beginning ?? what;
  if (/["'\\$`|&;<>()]/.test(text)) return "write a rule for a command with quotes or operators by hand";
  const argv = text.split(/\s+/).filter((word) => word !== "");
  if (beginning !== undefined || !what.includes("*"))
    return { kind: beginning === undefined ? "exact" : "prefix", argv };
  const pattern = what.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll("*", ".*");
  return { kind: "regex", pattern: `^${pattern}$` };
}

type Access = "read" | "write";

/**
 * Patterns have gitignore syntax: `//x` is absolute, `~/x` is in the home folder, `/x` and `./x` are in the project, and a bare
 * name is anywhere below the project. A denied bare name applies everywhere, and a denied folder includes its contents.
 */
function fileRules(what: string | undefined, access: Access, list: List, home?: string): Rule[] | string {
  const isAllowed = list === "allow";
  if (what === undefined || what === "*" || what === "**")
    return [{ kind: "path", glob: isAllowed && access === "write" ? "./**" : "**", access }];
  if (what.startsWith("!")) return "exceptions to other rules are not supported";
  if (isAllowed && /[[\]{}\\?]/.test(what)) return "write a rule for a pattern with these characters by hand";
  // In `deny` and `ask` rules, syntax that a policy's globs don't support becomes a wildcard, which may match more.
  const pattern = isAllowed ? what : widenBrackets(what).replaceAll(/\\.|[{}]/g, "?");
  const name = pattern.replace(/\/$/, "");
  const glob = globOf(name, isAllowed, home);
  if (glob === undefined) return "pass `home` to translate paths in the home folder";
  const own: Rule = { kind: "path", glob, access };
  const below: Rule = { kind: "path", glob: `${glob}/**`, access };
  if (glob.endsWith("**")) return [own];
  // The contents of a folder are allowed only if the pattern ends with a slash.
  if (isAllowed) return pattern === name ? [own] : [below];
  return [own, below];
}

function globOf(what: string, isAllowed: boolean, home: string | undefined): string | undefined {
  if (what.startsWith("//")) return what.slice(1);
  if (what.startsWith("~")) return home === undefined ? undefined : home + what.slice(1);
  const glob = what.replace(/^\.?\//, "");
  const isAnchored = what !== glob || glob.includes("/");
  if (!isAnchored) return isAllowed ? `./**/${glob}` : `**/${glob}`;
  // A glob that begins with `**` is not relative to the project.
  return isAllowed && glob.startsWith("**") ? `./${glob}` : glob;
}
