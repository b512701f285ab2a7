import type { UnionArm } from "./read-unions.ts";

/**
 * Codex's generator does not link methods to result types. They are matched by name (`XParams` → `XResponse`), except for these:
 * methods without params, and a few whose result has another name.
 */
const RESULT_NAMES: Readonly<Record<string, string>> = {
  "account/gatewayOAuth/cancel": "GatewayOAuthCancelResponse",
  "account/gatewayOAuth/login": "GatewayOAuthLoginResponse",
  "account/gatewayOAuth/read": "GatewayOAuthReadResponse",
  "account/logout": "LogoutAccountResponse",
  "account/workspaceMessages/read": "GetWorkspaceMessagesResponse",
  "accountSession/list": "AccountSessionsResponse",
  "config/batchWrite": "ConfigWriteResponse",
  "config/mcpServer/reload": "McpServerRefreshResponse",
  "config/value/write": "ConfigWriteResponse",
  "configRequirements/read": "ConfigRequirementsReadResponse",
  "externalAgentConfig/import/readHistories": "ExternalAgentConfigImportHistoriesReadResponse",
  "memory/reset": "MemoryResetResponse",
  "remoteControl/status/read": "RemoteControlStatusReadResponse",
  "rollout/compress": "RolloutCompressResponse",
  "windowsSandbox/readiness": "WindowsSandboxReadinessResponse",
};

export interface PairedMethod extends UnionArm {
  readonly result: string;
}

/**
 * Finds the result type of every method. Throws and lists the methods if a result is missing, an exception is no longer needed,
 * or a response type has no method. Each of these means that a release has changed the names.
 */
export function pairResults(
  arms: readonly UnionArm[],
  responseTypes: ReadonlySet<string>,
  exceptions: Readonly<Record<string, string>> = RESULT_NAMES,
): PairedMethod[] {
  const problems: string[] = [];
  const paired = arms.map((arm) => {
    const byName = resultByName(arm.params);
    const result = exceptions[arm.method] ?? byName;
    if (result === undefined || !responseTypes.has(result)) {
      problems.push(`${arm.method}: no result type ${result ?? "(the method has no params)"}`);
    }
    return { ...arm, result: result ?? "unknown" };
  });
  const methods = new Set(arms.map((arm) => arm.method));
  for (const method of Object.keys(exceptions)) {
    if (!methods.has(method))
      problems.push(`${method}: listed as an exception, but Codex has no such method`);
  }
  const claimed = new Set(paired.map(({ result }) => result));
  for (const type of responseTypes) {
    if (!claimed.has(type)) problems.push(`${type}: no method has this result`);
  }
  if (problems.length > 0) {
    throw new Error(
      `The methods of this Codex release do not pair up with their results:\n  ${problems.join("\n  ")}`,
    );
  }
  return paired;
}

function resultByName(params: string | undefined): string | undefined {
  // Optional params have the type `XParams | null` or `XParams | undefined`.
  const name = params?.split("|")[0]?.trim();
  return name?.endsWith("Params") ? name.replace(/Params$/, "Response") : undefined;
}
