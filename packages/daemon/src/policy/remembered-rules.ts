import type { Rule } from "@codexkit/approvals";
import type { ApprovalOffer, InboxAnswer, InboxRequest } from "../api/approval.ts";
import type { ApprovalTable } from "../database/tables.ts";

/** Policy rules of a session that were added by answers. */
export interface RememberedRules {
  readonly allow: readonly Rule[];
  readonly deny: readonly Rule[];
}

export const NO_RULES: RememberedRules = { allow: [], deny: [] };

type AnsweredRow = Pick<ApprovalTable, "request" | "offers" | "answer">;

/**
 * Returns the rules that have the effect of remembered answers. Codex remembers the answers that it receives; these
 * rules replace answers that were given after it had stopped waiting. An `always` is sent to Codex with the next
 * request that it covers.
 */
export function rememberedRules(rows: readonly AnsweredRow[]): RememberedRules {
  const allow: Rule[] = [];
  const deny: Rule[] = [];
  for (const row of rows) {
    const request = JSON.parse(row.request) as InboxRequest;
    const offer = chosenOffer(row);
    if (!offer || offer.scope === "call") continue;
    (offer.accepts ? allow : deny).push(...toRules(request, offer));
  }
  return { allow, deny };
}

/** Whether the answer is remembered. */
export function isRemembered(row: AnsweredRow): boolean {
  return (chosenOffer(row)?.scope ?? "call") !== "call";
}

function chosenOffer({ offers, answer }: AnsweredRow): ApprovalOffer | undefined {
  const chosen = answer === null ? undefined : (JSON.parse(answer) as InboxAnswer);
  if (chosen?.type !== "decision") return undefined;
  return (JSON.parse(offers) as ApprovalOffer[]).find(({ id }) => id === chosen.offer);
}

function toRules(request: InboxRequest, { id, scope, stores }: ApprovalOffer): readonly Rule[] {
  switch (request.kind) {
    case "command": {
      const host = /^(?:allow|deny)Host:(.+)$/.exec(id)?.[1] ?? request.network?.host;
      if (host !== undefined) return [{ kind: "host", host, scope }];
      if (request.command === null || request.action !== "command") return [];
      const folder = request.cwd ?? undefined;
      const same: Rule = { kind: "script", text: request.command, ...(folder && { folder }), scope };
      const words = id === "acceptWithPrefix" ? (stores ?? "").split(" ") : [];
      return [same, ...prefixRules(words)];
    }
    case "fileChange":
      return filesOf(request).map((glob) => ({ kind: "path", glob, access: "write", literal: true, scope }));
    case "mcpTool":
      if (request.tool === null) return [];
      return [{ kind: "mcp", server: request.server, tool: request.tool, literal: true, scope }];
    default:
      // Codex applies granted permissions itself.
      return [];
  }
}

/**
 * The words were stored as one text, so a word with a space in it, such as a script, can't be distinguished from two
 * words.
 */
function prefixRules(words: readonly string[]): readonly Rule[] {
  const isPlain = words.length > 0 && words.every((word) => /^[\w./:@=+-]+$/.test(word));
  return isPlain ? [{ kind: "prefix", argv: words, scope: "always" }] : [];
}

/** There is no rule for changes below a folder: Codex asks about each change again. */
function filesOf({ grantRoot, changes }: Extract<InboxRequest, { kind: "fileChange" }>): readonly string[] {
  if (grantRoot !== null) return [];
  return changes?.map(({ path }) => path) ?? [];
}
