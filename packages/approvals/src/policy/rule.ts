import { z } from "zod";
import { PolicyError } from "../errors.ts";

const word = z.string().min(1);
const examples = z.array(z.string()).readonly().optional();

function subject<Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) {
  return z.strictObject({
    kind: z.literal(kind),
    ...shape,
    /** A note for maintainers of the policy. */
    note: z.string().optional(),
    /** Why the rule exists. Included in the reasons of its decisions. */
    justification: z.string().optional(),
    /** Commands (or paths, hosts, `server/tool`) that the rule must match. Checked when the policy is defined. */
    match: examples,
    /** Commands that the rule must not match. Checked when the policy is defined. */
    notMatch: examples,
    /**
     * How long Codex remembers an accept by this rule: for this call, for the session, or permanently, by an amendment of
     * Codex's own rules. Default: `session` for rules about commands, `call` for all others.
     */
    scope: z.enum(["call", "session", "always"]).optional(),
  });
}

const subjects = [
  /**
   * Commands that begin with these words. A word may be a list of alternatives, and `*` in it matches any text of one
   * argument. Deny rules disregard global options and aliases. Never allows code in arguments.
   */
  subject("prefix", {
    argv: z
      .array(z.union([word, z.array(word).min(1).readonly()]))
      .min(1)
      .readonly(),
  }),
  /**
   * Exactly these words, including opaque code such as `python3 -c '…'`. With a `folder`, matches only a request of these
   * words in this working folder.
   */
  subject("exact", { argv: z.array(z.string()).min(1).readonly(), folder: word.optional() }),
  /**
   * Exactly this command line as received, in any working folder or only in `folder`. Covers everything in it except what the
   * safety rules deny. Covers the same text typed into a process only if `stdin` is set.
   */
  subject("script", { text: z.string(), folder: word.optional(), stdin: z.boolean().optional() }),
  /** RE2 syntax, linear time. A deny rule matches anywhere in a command; an allow rule must match the whole command. */
  subject("regex", { pattern: z.string() }),
  /** Files: `*` within a name, `**` across folders. Relative globs are relative to each root of the workspace. */
  subject("path", {
    glob: word,
    /** What is done to the files. `write` includes `update` (create or change) and deleting. Default: anything. */
    access: z.enum(["read", "write", "update"]).optional(),
    literal: z.boolean().optional(),
  }),
  /** `example.com`, `*.example.com`, `example.com:8443`. */
  subject("host", { host: word }),
  /** Tools of an MCP server; `*` is a wildcard in both names, unless they are `literal`. */
  subject("mcp", { server: word, tool: z.string().optional(), literal: z.boolean().optional() }),
] as const;

/** Typed explicitly, because zod 4.0 declares unions with other type parameters. */
export const ruleSchema: z.ZodType<z.infer<(typeof subjects)[number]>> = z.discriminatedUnion(
  "kind",
  subjects,
);

/**
 * One rule of a policy. A rule about commands applies to simple commands anywhere in a script, but not to further commands
 * that such a command runs.
 */
export type Rule = Readonly<z.infer<typeof ruleSchema>>;
export type DecisionScope = NonNullable<Rule["scope"]>;

/** A string is an abbreviation of a prefix rule: `"git push"`. */
export type RuleInput = string | Rule;

/** Words of a string rule (`push:*` means something else in other tools, so it is not accepted): plain text, with `*` for any part of an argument. */
const PLAIN_WORD = /^(?!.*\*\*|.*:\*$)[^\s()'"`$|&;<>\\]+$/;

export function normalizeRule(input: RuleInput): Rule {
  if (typeof input !== "string") return input;
  const argv = input.split(/\s+/).filter((text) => text !== "");
  if (argv[0]?.includes("*") === false && argv.every((text) => PLAIN_WORD.test(text)))
    return { kind: "prefix", argv };
  throw new PolicyError(
    "invalid_rule",
    `"${input}" is not a rule. A string rule is the beginning of a command, such as "npm run test-*", with * only inside its arguments. Write an object for anything else, or import rules of other tools with their importer.`,
  );
}

export function describeRule(rule: Rule): string {
  const inFolder = "folder" in rule && rule.folder !== undefined ? ` (in ${rule.folder})` : "";
  switch (rule.kind) {
    case "prefix":
      return `${rule.argv.map((words) => (typeof words === "string" ? words : `{${words.join(",")}}`)).join(" ")} …`;
    case "exact":
      return `exactly the words: ${rule.argv.join(" ")}${inFolder}`;
    case "script":
      return `exactly the script: ${rule.text}${inFolder}`;
    case "regex":
      return `/${rule.pattern}/`;
    case "path":
      return rule.access === undefined ? rule.glob : `${rule.access} ${rule.glob}`;
    case "host":
      return rule.host;
    case "mcp":
      return `${rule.server}/${rule.tool ?? "*"}`;
  }
}
