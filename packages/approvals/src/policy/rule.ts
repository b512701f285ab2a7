/**
 * One line of a policy. A rule about commands speaks for simple commands, wherever they stand in a script: it never
 * speaks for what such a command runs in its turn.
 */
export type Rule = RuleSubject & {
  /** Shown in reasons and audit records. */
  readonly note?: string | undefined;
  /**
   * How long an accept by this rule lasts in Codex: for this call, for the session, or for good with an amendment of
   * Codex's own rules. Rules about commands say `session` unless told otherwise, all others `call`.
   */
  readonly lasting?: Lasting | undefined;
};

export type Lasting = "call" | "session" | "always";

export type RuleSubject =
  /** Commands whose first words are these. A word may be a list of alternatives. Never speaks for opaque code. */
  | { readonly kind: "prefix"; readonly argv: readonly (string | readonly string[])[] }
  /** Exactly these words. Speaks for opaque code such as `python3 -c '…'` too. */
  | { readonly kind: "exact"; readonly argv: readonly string[] }
  /** Exactly this command line, as it arrives. Speaks for everything in it but what safety refuses. */
  | { readonly kind: "script"; readonly text: string }
  /** RE2 syntax, linear time. As a deny it is searched for, as an allow it has to match the whole command. */
  | { readonly kind: "regex"; readonly pattern: string }
  /** Files: `*` within a name, `**` across folders. Relative globs are seen from each root of the workspace. */
  | { readonly kind: "path"; readonly glob: string; readonly access?: "read" | "write" | undefined }
  /** `example.com`, `*.example.com`, `example.com:8443`. */
  | { readonly kind: "host"; readonly host: string }
  /** Tools of an MCP server; `*` is a wildcard in both names. */
  | { readonly kind: "mcp"; readonly server: string; readonly tool?: string | undefined };

/** A string is short for a prefix: `"git push"`. */
export type RuleInput = string | Rule;

export function normalizeRule(input: RuleInput): Rule {
  if (typeof input !== "string") return input;
  return { kind: "prefix", argv: input.split(/\s+/).filter((word) => word !== "") };
}

/** A rule in one line, for reasons and lists. */
export function describeRule(rule: Rule): string {
  switch (rule.kind) {
    case "prefix":
      return `${rule.argv.map((word) => (typeof word === "string" ? word : `{${word.join(",")}}`)).join(" ")} …`;
    case "exact":
      return rule.argv.join(" ");
    case "script":
      return rule.text;
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
