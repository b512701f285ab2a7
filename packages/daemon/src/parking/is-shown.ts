import type { InboxRequest } from "../api/approval.ts";
import { type CommandArguments, readPatch } from "./perform.ts";
import type { ModelCall } from "./rollout-lines.ts";

/**
 * Whether a person was shown what the call would do. The request and the rollout file are stored apart, and both may come from an
 * imported file: without this check, a file could show one command and have another one run.
 */
export function isShown(request: InboxRequest, call: ModelCall): boolean {
  switch (request.kind) {
    case "command":
      return request.command !== null && showsCommand(request.command, request.reason, call);
    case "fileChange":
      return request.changes !== null && showsPatch(request.changes, call);
    default:
      // Questions run nothing, and the call of an MCP tool is found by what was shown of it.
      return true;
  }
}

/** Codex shows the whole command line, with the script quoted: `/bin/bash -lc 'make test'`. */
function showsCommand(shown: string, reason: string | null, { input }: ModelCall): boolean {
  const { cmd = "", shell, sandbox_permissions: permissions } = JSON.parse(input) as CommandArguments;
  const [, program, script = ""] = /^(\S+) -l?c ([^]+)$/.exec(shown) ?? [];
  if (withoutQuotes(script) !== withoutQuotes(cmd)) return false;
  if (shell !== undefined && shell !== program) return false;
  // Codex says why a command has to run outside its sandbox.
  return permissions !== "require_escalated" || reason !== null;
}

function withoutQuotes(text: string): string {
  return text.replaceAll(/['"\\]/g, "");
}

function showsPatch(
  changes: readonly { readonly path: string; readonly diff: string }[],
  call: ModelCall,
): boolean {
  const lines = readPatch(call)?.split("\n");
  if (!lines) return false;
  const diffs = changes.map(({ diff }) => diff).join("\n");
  return lines.every((line) => {
    const path = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/.exec(line)?.[1];
    if (path !== undefined) return changes.some((change) => isPathOf(change, path));
    return !/^[-+]/.test(line) || diffs.includes(line.slice(1));
  });
}

/** Codex shows absolute paths, and the target of a moved file in the diff. */
function isPathOf({ path, diff }: { readonly path: string; readonly diff: string }, named: string): boolean {
  const relative = named.replace(/^(?:\.\/)+/, "");
  return path === relative || path.endsWith(`/${relative}`) || diff.includes(relative);
}
