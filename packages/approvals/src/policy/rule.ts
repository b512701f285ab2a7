import { PolicyError } from "../errors.ts";

/**
 * One rule of a policy. A rule about commands applies to simple commands anywhere in a script, but not to further commands
 * that such a command runs.
 */
export type Rule = RuleSubject & {
  /** A note for maintainers of the policy. */
  readonly note?: string | undefined;
  /** Why the rule exists. Included in the reasons of its decisions. */
  readonly justification?: string | undefined;
  /** Commands (or paths, hosts, `server/tool`) that the rule must match. Checked when the policy is defined. */
  readonly match?: readonly string[] | undefined;
  /** Commands that the rule must not match. Checked when the policy is defined. */
  readonly notMatch?: readonly string[] | undefined;
  /**
   * How long Codex remembers an accept by this rule: for this call, for the session, or permanently, by an amendment of
   * Codex's own rules. Default: `session` for rules about commands, `call` for all others.
   */
  readonly scope?: DecisionScope | undefined;
};

export type DecisionScope = "call" | "session" | "always";

export type RuleSubject =
  /**
   * Commands that begin with these words. A word may be a list of alternatives, and `*` in it matches any text of one
   * argument. Deny rules disregard global options and aliases. Never allows code in arguments.
   */
  | { readonly kind: "prefix"; readonly argv: readonly (string | readonly string[])[] }
  /**
   * Exactly these words, including opaque code such as `python3 -c '…'`. With a `folder`, matches only a request of these
   * words in this working folder.
   */
  | { readonly kind: "exact"; readonly argv: readonly string[]; readonly folder?: string | undefined }
  /**
   * Exactly this command line as received, in any working folder or only in `folder`. Covers everything in it except what the
   * safety rules deny. Covers the same text typed into a process only if `stdin` is set.
   */
  | {
      readonly kind: "script";
      readonly text: string;
      readonly folder?: string | undefined;
      readonly stdin?: boolean | undefined;
    }
  /** RE2 syntax, linear time. A deny rule matches anywhere in a command; an allow rule must match the whole command. */
  | { readonly kind: "regex"; readonly pattern: string }
  /** Files: `*` within a name, `**` across folders. Relative globs are relative to each root of the workspace. */
  | {
      readonly kind: "path";
      readonly glob: string;
      /** What is done to the files. `write` includes `update` (create or change) and deleting. Default: anything. */
      readonly access?: "read" | "write" | "update" | undefined;
      /** Whether the glob is a literal path. */
      readonly literal?: boolean | undefined;
    }
  /** `example.com`, `*.example.com`, `example.com:8443`. */
  | { readonly kind: "host"; readonly host: string }
  /** Tools of an MCP server; `*` is a wildcard in both names. */
  | {
      readonly kind: "mcp";
      readonly server: string;
      readonly tool?: string | undefined;
      /** Whether both are literal names, without wildcards. */
      readonly literal?: boolean | undefined;
    };

/** A string is short for a prefix: `"git push"`. */
export type RuleInput = string | Rule;

/** Words of a string rule (`push:*` means something else in other tools, so it is not accepted): plain text, with `*` for any part of an argument. */
const PLAIN_WORD = /^[^\s()'"`$|&;<>\\]+$/;

export function normalizeRule(input: RuleInput): Rule {
  if (typeof input !== "string") return input;
  const argv = input.split(/\s+/).filter((word) => word !== "");
  const [program = ""] = argv;
  if (
    program === "" ||
    program.includes("*") ||
    argv.some((word) => !PLAIN_WORD.test(word) || /\*\*|:\*$/.test(word))
  )
    throw new PolicyError(
      "invalid_rule",
      `"${input}" is not a rule. A rule in a string is the beginning of a command, such as "npm run test-*", with * only inside its arguments. Write an object for anything else, or import rules of other tools with their importer.`,
    );
  return { kind: "prefix", argv };
}

/** Describes a rule in one line, for reasons and lists. */
export function describeRule(rule: Rule): string {
  switch (rule.kind) {
    case "prefix":
      return `${rule.argv.map((word) => (typeof word === "string" ? word : `{${word.join(",")}}`)).join(" ")} …`;
    case "exact":
      return `exactly the words: ${rule.argv.join(" ")}${inFolder(rule.folder)}`;
    case "script":
      return `exactly the script: ${rule.text}${inFolder(rule.folder)}`;
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

function inFolder(folder: string | undefined): string {
  return folder === undefined ? "" : ` (in ${folder})`;
}
