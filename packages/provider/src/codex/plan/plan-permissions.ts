import { type Decision, definePolicy, type Policy, PolicyError, type Rule } from "@codexkit/approvals";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import { ProviderError } from "../../contract/provider-error.ts";
import type { ToolPlan } from "./plan-tools.ts";
import type { SandboxLevel } from "./plan-sandbox.ts";
import type { ToolKind } from "./tool-rule.ts";

/** Decides the requests of Codex. Plain data. */
export interface PermissionPlan {
  /** In this order: safety rules, the spec's deny lists, its allow lists (exclusive), the default. */
  readonly policy: Policy;
  /** Kinds of requests that are always denied. */
  readonly refused: readonly ToolKind[];
  /** Whether requests to leave the sandbox are denied. */
  readonly sandboxed: boolean;
}

export interface PermissionContext {
  readonly level: SandboxLevel;
  readonly writableRoots?: readonly string[] | undefined;
  /** Folders for temporary files inside the sandbox. */
  readonly tempFolders: readonly string[];
  /** Whether there is an `ask` handler. */
  readonly canAsk: boolean;
}

export function planPermissions(
  spec: AgentSpec,
  tools: ToolPlan,
  { level, writableRoots = [], tempFolders, canAsk }: PermissionContext,
): PermissionPlan {
  const {
    allowPatterns = [],
    disallowPatterns = [],
    defaultDecision = "allow",
  } = spec.permissionConfig ?? {};
  const sandboxed = level !== "full-access";
  const decision: Decision = defaultDecision === "prompt" ? (canAsk ? "ask" : "deny") : defaultDecision;
  const policy = policyOf({
    default: decision,
    workspace: {
      roots: [spec.cwd, ...writableRoots],
      ...(sandboxed ? { temp: tempFolders } : {}),
    },
    deny: [...disallowPatterns.map((pattern): Rule => ({ kind: "regex", pattern })), ...tools.deny],
    allow: [...allowPatterns.map(searching), ...tools.allow],
    ...(decision === "allow"
      ? { preset: "danger-full-access", effects: outside(level) }
      : { preset: "read-only", effects: { read: decision } }),
  });
  // Codex applies an approved patch itself, outside the sandbox.
  const refused = level === "read-only" ? [...new Set([...tools.refused, "edit" as const])] : tools.refused;
  return { policy, refused, sandboxed };
}

function policyOf(input: Parameters<typeof definePolicy>[0]): Policy {
  try {
    return definePolicy(input);
  } catch (error) {
    if (!PolicyError.is(error)) throw error;
    const message = `A pattern of permissionConfig or an entry of a tool list can't be read. ${error.message}`;
    throw new ProviderError("invalid_spec", message, { cause: error });
  }
}

/** A policy matches allow patterns against the whole command; a spec's pattern matches anywhere in it. */
function searching(pattern: string): Rule {
  return { kind: "regex", pattern: `.*?(?:${pattern}).*` };
}

function outside(level: SandboxLevel): Partial<Record<"write" | "writeOutside", Decision>> {
  if (level === "full-access") return {};
  return level === "read-only" ? { write: "deny", writeOutside: "deny" } : { writeOutside: "deny" };
}
