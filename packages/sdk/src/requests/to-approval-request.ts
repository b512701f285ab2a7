import type { ApprovalRequest, FileChange, PermissionProfile } from "@codexkit/approvals";
import type { v2 } from "@codexkit/protocol";
import type { AnyApproval } from "./handlers.ts";

/**
 * Converts an approval to the request that a policy evaluates. `cwd` is the thread's folder, for approvals without
 * one.
 */
export function toApprovalRequest(approval: AnyApproval, cwd: string | undefined): ApprovalRequest {
  switch (approval.kind) {
    case "command": {
      const { action, command, input, network, additionalPermissions } = approval;
      // The server omits the command only for network approvals.
      if (command === undefined && network === undefined)
        return { kind: "unknown", method: "a command approval without a command" };
      if (action !== "command" && action !== "writeStdin")
        return { kind: "unknown", method: `a command approval for ${String(action)}` };
      return {
        kind: "command",
        command: input ?? command ?? "",
        cwd: approval.cwd ?? cwd,
        stdin: action === "writeStdin",
        ...(network && { network: { host: network.host, protocol: network.protocol } }),
        ...(additionalPermissions && { additionalPermissions: toProfile(additionalPermissions) }),
      };
    }
    case "legacyCommand":
      return { kind: "command", command: approval.command, cwd: approval.cwd };
    case "fileChange":
      return {
        kind: "fileChange",
        changes: approval.changes?.map(({ path, kind }) => toChange(path, kind)),
        cwd,
        grantRoot: approval.grantRoot,
      };
    case "legacyPatch":
      return {
        kind: "fileChange",
        changes: Object.entries(approval.changes).flatMap(([path, change]) =>
          change === undefined ? [] : [toChange(path, change)],
        ),
        cwd,
        grantRoot: approval.params.grantRoot ?? undefined,
      };
    case "permissions":
      return {
        kind: "permissions",
        permissions: toProfile(approval.permissions),
        cwd: approval.cwd,
      };
    case "mcpTool":
      return { kind: "mcpTool", server: approval.server, tool: approval.tool };
  }
}

function toChange(
  path: string,
  kind: { readonly type: FileChange["kind"]; readonly move_path?: string | null },
): FileChange {
  return { path, kind: kind.type, movePath: kind.move_path ?? undefined };
}

function toProfile({
  network,
  fileSystem,
}: v2.RequestPermissionProfile | v2.AdditionalPermissionProfile): PermissionProfile {
  return { network, fileSystem };
}
