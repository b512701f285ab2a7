import type { AskHandler } from "@codexkit/approvals";
import { type AnyApproval, policyHandlers, type ServerRequestHandlers } from "codexkit";
import type { PermissionPlan } from "../plan/plan-permissions.ts";
import type { ToolKind } from "../plan/tool-rule.ts";

export interface PermissionHandlersOptions {
  readonly cwd: string;
  /** Called if the policy requires it. */
  readonly ask?: AskHandler | undefined;
}

/** Answers all requests of Codex in a session. */
export function permissionHandlers(
  plan: PermissionPlan,
  { cwd, ask }: PermissionHandlersOptions,
): Pick<ServerRequestHandlers, "approve"> {
  const { approve } = policyHandlers(plan.policy, { cwd, ...(ask ? { ask } : {}) });
  return {
    approve: (approval, context) => {
      const reason = refusal(plan, approval);
      if (reason !== undefined) return { decision: "decline", reason };
      return approve ? approve(approval, context) : "decline";
    },
  };
}

const KINDS: Readonly<Record<AnyApproval["kind"], ToolKind | "permissions">> = {
  command: "command",
  legacyCommand: "command",
  fileChange: "edit",
  legacyPatch: "edit",
  mcpTool: "mcp",
  permissions: "permissions",
};

/** Why a request is denied before the policy is evaluated. */
function refusal({ refused, sandboxed }: PermissionPlan, approval: AnyApproval): string | undefined {
  const kind = KINDS[approval.kind];
  if (kind !== "permissions" && refused.includes(kind)) return `the spec does not allow this tool: ${kind}`;
  return sandboxed && leavesSandbox(approval) ? "the spec keeps this session in its sandbox" : undefined;
}

/** Codex gives a reason exactly when it requests more than to run a command in the sandbox. */
function leavesSandbox(approval: AnyApproval): boolean {
  if (approval.kind === "permissions") return true;
  if (approval.kind !== "command") return false;
  return approval.reason !== undefined || approval.additionalPermissions !== undefined;
}
