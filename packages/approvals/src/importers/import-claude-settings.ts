import { z } from "zod";
import { PolicyError } from "../errors.ts";
import type { Rule } from "../policy/rule.ts";
import { ImportBuilder, type ImportedRules } from "./import-report.ts";

export interface ImportClaudeOptions {
  /** What `~` means in rules about files. Without it such rules are reported. */
  readonly home?: string | undefined;
}

const settingsSchema = z.looseObject({
  permissions: z
    .looseObject({
      allow: z.array(z.string()).optional(),
      ask: z.array(z.string()).optional(),
      deny: z.array(z.string()).optional(),
    })
    .optional(),
});

const LISTS = { allow: "alsoAllow", ask: "ask", deny: "deny" } as const;

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
  const builder = new ImportBuilder();
  const { allow = [], ask = [], deny = [], ...others } = read.data.permissions ?? {};
  for (const [list, entries] of Object.entries({ allow, ask, deny }) as [
    "allow" | "ask" | "deny",
    string[],
  ][]) {
    for (const entry of entries) {
      const rule = translate(entry, list, options);
      if (typeof rule === "string") builder.report(`${list}: ${entry}`, rule);
      else builder[LISTS[list]].push(rule);
    }
  }
  for (const name of Object.keys(others))
    builder.report(`permissions.${name}`, "choose a preset and the roots of the workspace instead");
  return builder.build();
}

const ENTRY = /^(?<tool>[A-Za-z]\w*?)(?:\((?<what>[^]*)\))?$/;

/** One entry as a rule, or why there is none. */
function translate(
  entry: string,
  list: "allow" | "ask" | "deny",
  { home }: ImportClaudeOptions,
): Rule | string {
  const mcp = /^mcp__(?<server>.+?)(?:__(?<tool>.+))?$/.exec(entry)?.groups;
  if (mcp !== undefined) {
    const { server = "", tool } = mcp;
    return tool === undefined || tool === "*" ? { kind: "mcp", server } : { kind: "mcp", server, tool };
  }
  const { tool, what } = ENTRY.exec(entry)?.groups ?? {};
  switch (tool) {
    case "Bash":
      return commandRule(what);
    case "Read":
      return fileRule(what, "read", home);
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
    case "Write":
      return fileRule(what, "write", home);
    case "WebFetch": {
      const domain = /^domain:(?<host>[\w.*-]+)$/.exec(what ?? "")?.groups?.["host"];
      if (domain !== undefined) return { kind: "host", host: domain };
      return what === undefined ? { kind: "host", host: "*" } : "only domain:… is known of WebFetch";
    }
    default:
      return list === "deny" ? "Codex has no such tool: nothing has to be denied" : "Codex has no such tool";
  }
}

/** A star stands for any text, blanks included; `:*` at the end and ` *` stand for any further words, or none. */
function commandRule(what: string | undefined): Rule | string {
  if (what === undefined || what === "*") return { kind: "regex", pattern: ".*" };
  const beginning = /^(?<words>[^*]+?)(?::\*| \*)$/.exec(what)?.groups?.["words"];
  const text = beginning ?? what;
  if (/["'\\$`|&;<>()]/.test(text)) return "write a rule for a command with quotes or operators by hand";
  if (beginning !== undefined) return { kind: "prefix", argv: wordsOf(beginning) };
  if (!what.includes("*")) return { kind: "exact", argv: wordsOf(what) };
  const pattern = what.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll("*", ".*");
  return { kind: "regex", pattern: `^${pattern}$` };
}

/** `//x` is absolute, `~/x` in the home folder, `/x` and `./x` in the project, and a bare name is anywhere. */
function fileRule(
  what: string | undefined,
  access: "read" | "write",
  home: string | undefined,
): Rule | string {
  if (what === undefined || what === "*" || what === "**") return { kind: "path", glob: "**", access };
  if (what.startsWith("!")) return "an exception to other rules";
  if (what.startsWith("//")) return { kind: "path", glob: what.slice(1), access };
  if (what.startsWith("~")) {
    if (home === undefined) return "pass `home` to translate paths in the home folder";
    return { kind: "path", glob: home + what.slice(1), access };
  }
  const glob = what.replace(/^\.?\//, "");
  const isAnchored = what !== glob || glob.slice(0, -1).includes("/");
  return { kind: "path", glob: isAnchored ? glob : `**/${glob}`, access };
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
