import { unwrapShell } from "@codexkit/approvals";
import { resolve } from "node:path";
import type { InboxRequest } from "../api/approval.ts";
import { type PatchedFile, parsePatch } from "./parse-patch.ts";
import { type CommandArguments, readPatch } from "./perform.ts";
import type { ModelCall } from "./rollout-lines.ts";

type ShownChange = NonNullable<Extract<InboxRequest, { kind: "fileChange" }>["changes"]>[number];

/**
 * Whether a person was shown what the call would do. The request and the rollout file are stored separately, and both may come from
 * an imported file. Without this check, such a file could show one command and run another. Anything that is not recognised counts
 * as not shown; Codex then asks again.
 *
 * @param folder The session's folder, which paths of a patch are relative to.
 */
export function isShown(request: InboxRequest, call: ModelCall, folder: string): boolean {
  switch (request.kind) {
    case "command":
      return request.command !== null && showsCommand(request.command, request.reason, call);
    case "fileChange":
      return request.changes !== null && showsPatch(request.changes, call, folder);
    default:
      // Questions run nothing, and the call of an MCP tool is found by the arguments that were shown.
      return true;
  }
}

/** Codex shows the whole command line, with the script quoted: `/bin/bash -lc 'make test'`. */
function showsCommand(shown: string, reason: string | null, { input }: ModelCall): boolean {
  const { cmd, shell, sandbox_permissions: permissions } = JSON.parse(input) as CommandArguments;
  const program = /^(\S+) -l?c /.exec(shown)?.[1];
  const unwrapped = unwrapShell(shown);
  if (program === undefined || unwrapped.kind !== "script" || unwrapped.script !== cmd) return false;
  if (shell !== undefined && shell !== program) return false;
  // Codex gives a reason if a command must run outside its sandbox.
  return permissions !== "require_escalated" || reason !== null;
}

function showsPatch(changes: readonly ShownChange[], call: ModelCall, folder: string): boolean {
  const files = parsePatch(readPatch(call) ?? "");
  if (files?.length !== changes.length) return false;
  return files.every((file) => {
    const path = resolve(folder, file.path);
    const [change, ...others] = changes.filter((each) => resolve(folder, each.path) === path);
    return change !== undefined && others.length === 0 && showsFile(change, file, folder);
  });
}

/** The diff of a new file is its contents. The diff of a moved file ends with its new path. */
function showsFile({ kind, diff }: ShownChange, file: PatchedFile, folder: string): boolean {
  if (kind !== file.kind) return false;
  if (file.kind === "delete") return true;
  if (file.kind === "add") return diff === file.added.map((line) => `${line}\n`).join("");
  const [, changed = diff, movedTo] = /^([^]*?)\n\nMoved to: (.+)$/.exec(diff) ?? [];
  if ((movedTo && resolve(folder, movedTo)) !== (file.movedTo && resolve(folder, file.movedTo))) return false;
  const lines = changed.split("\n");
  return isEqual(linesWith("-", lines), file.removed) && isEqual(linesWith("+", lines), file.added);
}

function linesWith(mark: "-" | "+", lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.startsWith(mark)).map((line) => line.slice(1));
}

function isEqual(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((line, index) => line === right[index]);
}
