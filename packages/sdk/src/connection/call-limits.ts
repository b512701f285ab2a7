import type { ClientRequests } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { OptionKeys } from "../options/reject-unknown-options.ts";

export const CALL: OptionKeys<CallOptions> = { signal: true, timeoutMs: true };

/**
 * Requests whose response can take arbitrarily long, because it waits for a command, a model, an MCP server, a download or a
 * person. They have no default timeout; pass `timeoutMs`. docs/sdk.md lists them. Every other request is answered from memory or
 * disk and uses `limits.callTimeoutMs`.
 */
export const WAITS_FOR_WORK: ReadonlySet<string> = new Set<keyof ClientRequests>([
  // A command, or a walk over the whole workspace.
  "command/exec",
  "gitDiffToRemote",
  "fuzzyFileSearch",
  "fs/copy",
  "fs/remove",
  "rollout/compress",
  "windowsSandbox/setupStart",
  // The model.
  "thread/sample",
  "thread/prediction/request",
  // An MCP server, which may first have to start.
  "mcpServer/tool/call",
  "mcpServer/resource/read",
  "mcpServerStatus/list",
  // A download or an upload.
  "marketplace/add",
  "marketplace/upgrade",
  "plugin/install",
  "plugin/reconcile",
  "plugin/share/save",
  "plugin/share/checkout",
  "externalAgentConfig/detect",
  "externalAgentConfig/import",
  "feedback/upload",
  // A person.
  "userVerification/enroll",
  "userVerification/verify",
  "account/gatewayOAuth/login",
]);

export function waitsForWork(method: string): boolean {
  return WAITS_FOR_WORK.has(method);
}

/** Removes the default timeout of these requests, unless the caller passes one. */
export function withCallLimit(method: string, options: CallOptions | undefined): CallOptions {
  if (options?.timeoutMs !== undefined || !waitsForWork(method)) return options ?? {};
  return { ...options, timeoutMs: Infinity };
}
