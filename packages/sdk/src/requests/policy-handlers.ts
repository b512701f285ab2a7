import type {
  AskHandler,
  AuditRecord,
  createApprover,
  Policy,
  Rule,
  WireRequest,
  WireResponse,
} from "@codexkit/approvals";
import type { AnyDecision, McpToolDecision } from "./decisions.ts";
import type { AnyApproval, ServerRequestHandlers } from "./handlers.ts";
import type { PermissionGrant } from "./permission-grant.ts";

export interface PolicyHandlersOptions {
  /** Asked where the policy says "ask": all at once, the first answer counts. Without any, "ask" means no. */
  readonly ask?: AskHandler | readonly AskHandler[];
  /** How long a question stays open before it counts as a no. Default ten minutes. */
  readonly timeoutMs?: number;
  /** The folder that relative paths of changes are resolved against: the thread's. */
  readonly cwd?: string;
  /** Hears every decision, also those that nobody was asked about. */
  readonly onDecision?: (record: AuditRecord) => void;
  /** Hears the rules that "always allow this" made, for the caller to store: see `remember`. */
  readonly onRemember?: (rules: readonly Rule[]) => void;
}

type Approver = ReturnType<typeof createApprover>;

const METHODS: Readonly<Record<AnyApproval["kind"], string>> = {
  command: "item/commandExecution/requestApproval",
  fileChange: "item/fileChange/requestApproval",
  permissions: "item/permissions/requestApproval",
  mcpTool: "mcpServer/elicitation/request",
  legacyCommand: "execCommandApproval",
  legacyPatch: "applyPatchApproval",
};

/**
 * Handlers that answer approvals by a policy, and ask people only where it says so. A function as policy is asked anew for
 * each request, so that it can change in the middle of a thread.
 *
 * @example
 * const policy = definePolicy({ preset: "developer", deny: ["git push"], workspace: { roots: [cwd] } });
 * await using codex = await Codex.launch({ handlers: policyHandlers(policy) });
 */
export function policyHandlers(
  policy: Policy | (() => Policy),
  options: PolicyHandlersOptions = {},
): Required<Pick<ServerRequestHandlers, "approve">> {
  const { ask, timeoutMs, cwd, onDecision, onRemember } = options;
  // Loaded with the first approval: a program without a policy need not wait for a shell parser at its start.
  const loadApprover = async (): Promise<Approver> => {
    const { createApprover, resolvePaths } = await import("@codexkit/approvals");
    return createApprover({ policy, ask, timeoutMs, onDecision, resolve: resolvePaths });
  };
  let loading: Promise<Approver> | undefined;
  return {
    approve: async (approval, { signal }) => {
      loading ??= loadApprover();
      const approver = await loading;
      const { response, record, remember } = await approver(wireOf(approval, cwd), signal);
      if (remember.length > 0) onRemember?.(remember);
      return { decision: decisionOf(approval.kind, response), reason: record.reason };
    },
  };
}

function wireOf(approval: AnyApproval, cwd: string | undefined): WireRequest {
  const item = "item" in approval ? approval.item : undefined;
  return { method: METHODS[approval.kind], params: approval.params, item, cwd };
}

/** The answer in the words of the desk, which checks it once more against what the server offers. */
function decisionOf(kind: AnyApproval["kind"], response: WireResponse | undefined): AnyDecision {
  if (response === undefined) return "decline";
  switch (kind) {
    case "permissions":
      return response as unknown as PermissionGrant;
    case "mcpTool":
      return mcpToolDecision(response);
    case "command":
    case "fileChange":
    case "legacyCommand":
    case "legacyPatch":
      return response["decision"] as AnyDecision;
  }
}

function mcpToolDecision(response: WireResponse): McpToolDecision {
  const { action, _meta: meta } = response as { action?: unknown; _meta?: { persist?: unknown } | null };
  if (action !== "accept") return action === "cancel" ? "cancel" : "decline";
  if (meta?.persist === "always") return "acceptAlways";
  return meta?.persist === "session" ? "acceptForSession" : "accept";
}
